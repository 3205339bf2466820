#include "problem.hpp"
#include "studies.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

namespace transfer_modes {

namespace {

//! [host_reads]
inline double sum(std::span<float const> values)
{
    double total = 0;
    for (float const value : values) {
        total += static_cast<double>(value);
    }
    return total;
}
//! [host_reads]

/// Kinds of memory that the host may read and write.
std::vector<std::pair<std::string, std::function<HostArray(std::size_t)>>> host_kinds()
{
    return {{"pageable", pageable},
            {"malloc_host", malloc_host},
            {"write_combined",
             [](std::size_t count) { return host_alloc(count, cudaHostAllocWriteCombined); }}};
}

/// The host itself reads an array of each kind.
void host_reads(Trial& trial, cuda::Gpu& gpu)
{
    Problem const p{trial, gpu, std::size_t{1} << 20};
    auto const total = trial.output<double>(1);
    total.expect([x = p.x] {
        return bench::Expected{{sum(x.on())}, {0}}; // the same additions in the same order
    });
    trial.work({.bytes = static_cast<double>(p.count * sizeof(float))});
    for (auto const& [name, make] : host_kinds()) {
        trial
            .add(name,
                 [p, total, make](Variant& variant) {
                     auto const array = p.filled(variant, make(p.count));
                     return [array, total = total.on()] { total[0] = sum(array.span); };
                 })
            .on(bench::host())
            .excerpt("host_reads");
    }
    trial.run();
}

/// The host itself writes an array of each kind.
void host_writes(Trial& trial, cuda::Gpu& gpu)
{
    Problem const p{trial, gpu, std::size_t{1} << 20};
    trial.work({.bytes = static_cast<double>(p.count * sizeof(float))});
    for (auto const& [name, make] : host_kinds()) {
        trial
            .add(name,
                 [p, make](Variant& variant) {
                     auto const array = make(p.count);
                     p.expect(variant.output<float>(array.span));
                     //! [host_writes]
                     return [array, x = p.x.on()] {
                         std::memcpy(array.span.data(), x.data(), x.size_bytes());
                     };
                     //! [host_writes]
                 })
            .on(bench::host())
            .excerpt("host_writes");
    }
    trial.run();
}

//! [cache_reads]
/// Sixteen sums, none of which waits for another: as fast as the cache gives.
inline double sum_of_sums(std::span<float const> values)
{
    std::array<double, 16> sums{};
    for (std::size_t i = 0; i + sums.size() <= values.size(); i += sums.size()) {
        for (std::size_t k = 0; k < sums.size(); ++k) {
            sums[k] += static_cast<double>(values[i + k]);
        }
    }
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}
//! [cache_reads]

/// The host reads what was in its cache before it filled 32 MiB of each kind.
void cache_spared(Trial& trial, cuda::Gpu& gpu)
{
    Problem const p{trial, gpu, std::size_t{512} << 10};
    auto const total = trial.output<double>(1);
    total.expect([x = p.x] { return bench::Expected{{sum_of_sums(x.on())}, {0}}; });
    trial.cache(bench::Cache::warm);
    trial.work({.bytes = static_cast<double>(p.count * sizeof(float))});
    auto const read = std::make_shared<double>(0);
    auto const add = [&](std::string const& name,
                         std::function<HostArray(std::size_t)> const& make) {
        trial
            .add(name,
                 [p, total, make, read](Variant& variant) {
                     auto const filled = make ? make(std::size_t{8} << 20) : HostArray{};
                     variant.on_reset([p, filled, read] {
                         *read = sum_of_sums(p.x.on()) + sum_of_sums(p.x.on()); // into the cache
                         std::ranges::fill(filled.span, 1.0F);
                     });
                     return [x = p.x.on(), total = total.on()] { total[0] = sum_of_sums(x); };
                 })
            .on(bench::host())
            .excerpt("cache_reads");
    };
    add("undisturbed", nullptr);
    for (auto const& [name, make] : host_kinds()) {
        if (name != "pageable") {
            add("after_" + name, make);
        }
    }
    trial.run();
}

} // namespace

void add_host_side(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    experiment.study("host_reads").on(gpu).untyped([&](Trial& trial) { host_reads(trial, gpu); });
    experiment.study("host_writes").on(gpu).untyped([&](Trial& trial) { host_writes(trial, gpu); });
    experiment.study("cache_spared").on(gpu).untyped([&](Trial& trial) {
        cache_spared(trial, gpu);
    });
}

} // namespace transfer_modes
