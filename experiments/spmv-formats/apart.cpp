#include "studies.hpp"

#include "experiments/spmv_formats.hpp"

#include "spmv/formats/csrl/csrl.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace spmv_formats {

namespace {

/// Rows whose nonzeros and part of x are together less than the 32 KB of a first-level cache.
constexpr std::int32_t most_in_cache = 32;

/// A format as words without a meaning.
struct Words
{
    std::vector<std::uint32_t> words;

    /// The arrays of a format, one behind the other.
    template <class... Array>
    explicit Words(Array const&... arrays)
    {
        (append(std::as_bytes(std::span{arrays})), ...);
    }

    std::size_t bytes() const { return words.size() * sizeof(std::uint32_t); }

private:
    void append(std::span<std::byte const> array)
    {
        auto const before = words.size();
        words.resize(before + array.size() / sizeof(std::uint32_t));
        std::memcpy(&words[before], array.data(), array.size());
    }
};

//! [bytes_alone]
/// Reads every word, from four places at once, and adds it: nothing waits but for memory.
inline std::uint32_t sum_of_words(std::span<std::uint32_t const> words)
{
    auto const quarter = words.size() / 4;
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < quarter; ++i) {
        sum += words[i] + words[quarter + i] + words[2 * quarter + i] + words[3 * quarter + i];
    }
    for (auto const word : words.subspan(4 * quarter)) {
        sum += word;
    }
    return sum;
}
//! [bytes_alone]

//! [in_cache]
/// The same rows again and again: after the first time nothing comes from memory.
template <class T>
void multiply_again(spmv::Plan<T> const& plan, std::span<T const> x, std::span<T> y, int times)
{
    for (int k = 0; k < times; ++k) {
        plan(x, y);
    }
}
//! [in_cache]

/// The first rows, with as many columns as they reach.
template <class T>
sparse::CsrView<T> first_rows(sparse::CsrView<T> const& a)
{
    auto const rows = std::min(a.rows, most_in_cache);
    auto const nonzeros = static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(rows)]);
    auto const col = a.col.first(nonzeros);
    auto const columns = col.empty() ? 0 : *std::ranges::max_element(col) + 1;
    return {rows, columns, a.row_ptr.first(static_cast<std::size_t>(rows) + 1), col,
            a.values.first(nonzeros)};
}

/// A format from memory, its bytes alone, and its products alone, as many of them.
template <class T>
void add_format(bench::Trial& trial, Problem<T>& problem, spmv::PlanOptions const& options,
                Words const& words)
{
    auto const& name = options.format;
    trial.add(name + "_from_memory", by_plan(problem, options)).excerpt(name);
    trial
        .add(name + "_bytes",
             [words](bench::Variant& variant) {
                 auto const kept = variant.keep(words);
                 auto const sum = variant.output<std::int32_t>(1);
                 sum.expect([kept] {
                     auto const wanted = std::reduce(kept->words.begin(), kept->words.end());
                     return bench::Expected{{1.0 * static_cast<std::int32_t>(wanted)}, {0}};
                 });
                 return [kept, sum = sum.on()] {
                     sum[0] = static_cast<std::int32_t>(sum_of_words(kept->words));
                 };
             })
        .excerpt("bytes_alone");
    trial
        .add(name + "_in_cache",
             [&problem, options](bench::Variant& variant) {
                 auto const rows = first_rows<T>(problem.a);
                 auto const x = problem.x.on().first(static_cast<std::size_t>(rows.columns));
                 auto const y = variant.output<T>(static_cast<std::size_t>(rows.rows));
                 y.expect([rows, x] { return spmv::expected<T>(rows, x); });
                 auto const plan = variant.keep(spmv::Plan<T>{rows, options});
                 auto const times = problem.a.rows / rows.rows;
                 return [=, y = y.on()] { multiply_again<T>(*plan, x, y, times); };
             })
        .excerpt("in_cache");
}

} // namespace

void add_apart(bench::Experiment& experiment, sparse::Datasets& datasets,
               std::string const& kernels)
{
    auto& study = experiment.study("apart").axis("matrix", datasets.set("formats-apart"));
    study.types<float>([&]<class T>(bench::Trial& trial) { // as in the article
        Problem<T> problem{datasets, trial};
        trial.cache(bench::Cache::cold);
        auto options = plan_options<T>(trial, kernels);
        auto const& a = problem.a;
        options.format = "csr";
        add_format(trial, problem, options, Words{a.row_ptr, a.col, a.values});
        auto const csrl = sparse::to_csrl<T>(a.view());
        options.format = "csrl";
        add_format(trial, problem, options,
                   Words{csrl.first_run, csrl.start, csrl.length, csrl.values});
        trial.run();
    });
}

} // namespace spmv_formats
