#include "spmv/plan/candidates.hpp"

#include "machine/topology.hpp"
#include "spmv/formats/costs.hpp"
#include "spmv/formats/packed_csrl/packed_csrl.hpp"
#include "spmv/formats/row_group.hpp"
#include "spmv/formats/runs.hpp"
#include "spmv/plan.hpp"
#include "spmv/plan/shared_work.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace spmv {

namespace {

constexpr auto any_length = std::numeric_limits<std::int32_t>::max();

/// Blocks of consecutive rows, evenly spread, without long rows: they stand for all of a matrix.
template <class T>
sparse::Csr<T> sample_of(sparse::CsrView<T> const& a, std::int32_t longest)
{
    constexpr std::int32_t block = 48; // a whole number of the chunks, groups and blocks of formats
    constexpr double least = 4096;     // nonzeros
    double const wanted = std::max(least, static_cast<double>(a.nonzeros()) / 64);
    double const share = wanted / std::max(1.0, static_cast<double>(a.nonzeros()));
    auto const all = sparse::group_count(a, block);
    auto const blocks = std::clamp(static_cast<std::int32_t>(share * all), std::min(8, all), all);
    sparse::Csr<T> sample{0, a.columns, {0}, {}, {}};
    for (std::int32_t k = 0; k < blocks; ++k) {
        auto const first = static_cast<std::int32_t>(std::int64_t{all} * k / blocks) * block;
        for (std::int32_t i = first; i < std::min(a.rows, first + block); ++i) {
            auto const begin = a.row_ptr[i];
            auto const end = a.row_ptr[i + 1];
            if (end - begin <= longest) {
                sample.col.insert(sample.col.end(), &a.col[begin], &a.col[begin] + (end - begin));
                sample.values.insert(sample.values.end(), &a.values[begin],
                                     &a.values[begin] + (end - begin));
            }
            sample.row_ptr.push_back(static_cast<std::int32_t>(sample.col.size()));
            ++sample.rows;
        }
    }
    return sample;
}

/// Looks at one matrix.
template <class T>
class Look
{
public:
    Look(sparse::CsrView<T> const& a, RowLengths const& lengths, Wanted const& wanted)
        : a_{a}, lengths_{lengths}, wanted_{wanted}, sample_{sample_of(a, lengths.limit)}
    {
        auto const sampled = static_cast<double>(std::max<std::size_t>(1, sample_.nonzeros()));
        scale_ = (static_cast<double>(a.nonzeros()) - lengths.nonzeros) / sampled;
        for (std::int32_t i = 0; i < sample_.rows; ++i) {
            runs_ += scale_ * sparse::count_runs(sample_.view(), i, any_length);
        }
        runs_ += lengths.runs;
    }

    /// Throws `std::length_error` if the format does not suit the matrix.
    Candidate<T> candidate(PlanFormat<T> const& format) const
    {
        Candidate<T> found{.format = &format};
        auto& build = found.build;
        auto const all = static_cast<double>(a_.nonzeros());
        double const vectors = (1.0 * a_.rows + a_.columns) * sizeof(T);
        build.threads = wanted_.threads;
        build.prefetch = gains_by_prefetch(all * (sizeof(T) + 4) + vectors);
        double const bytes =
            format.bytes(sample_, build) * scale_ + lengths_.nonzeros * (sizeof(T) + 4);
        build.prefetch = build.prefetch && gains_by_prefetch(bytes + vectors);
        build.longest_row = longest_row(format);
        build.pieces_in_runs =
            a_.columns <= sparse::Piece::columns_end && 2 * lengths_.runs <= lengths_.nonzeros;
        auto const* costs = costs_of(host_costs(), format.name.name, sizeof(T));
        if (costs == nullptr) { // as long as rows take, so does it, as far as sharing goes
            costs = costs_of(host_costs(), "csr", sizeof(T));
        }
        found.nanoseconds =
            costs->nanoseconds({all, 1.0 * a_.rows, bytes, runs_}) / wanted_.threads;
        found.cautious = costs->margin * found.nanoseconds;
        found.conversion = costs->conversion * all / wanted_.threads;
        build.shares =
            std::min(useful_shares(found.nanoseconds, wanted_.threads), format.most_shares);
        return found;
    }

private:
    /// Whether kernels should prefetch what a multiply touches: a good part of it comes from
    /// memory, as caches hold other things too.
    bool gains_by_prefetch(double touched) const
    {
        return wanted_.cold ||
               touched >= static_cast<double>(machine::topology().core_caches.shared) / 2;
    }

    /// Rows of CSR go to threads whole, unless long ones give some thread too much.
    std::int32_t longest_row(PlanFormat<T> const& format) const
    {
        constexpr double too_much = 1.1;
        if (!format.borrows) {
            return format.keeps_rows ? any_length : lengths_.limit;
        }
        return lengths_.long_rows > 0 && imbalance(CsrRows<T>{a_}, wanted_.threads) > too_much
                   ? std::max(1024, static_cast<std::int32_t>(a_.nonzeros() / wanted_.threads / 16))
                   : any_length;
    }

    sparse::CsrView<T> const& a_;
    RowLengths const& lengths_;
    Wanted const& wanted_;
    sparse::Csr<T> sample_;
    double scale_;    ///< from the sample to all rows that are not long
    double runs_ = 0; ///< of the matrix
};

} // namespace

template <class T>
std::vector<Candidate<T>> candidates(sparse::CsrView<T> const& a, RowLengths const& lengths,
                                     Wanted const& wanted)
{
    Look<T> const look{a, lengths, wanted};
    if (!wanted.format.empty()) {
        return {look.candidate(format_named<T>(wanted.format))};
    }
    std::vector<Candidate<T>> found;
    for (auto const& format : plan_format_table<T>()) {
        if (!has_costs(format.name.name) || format.rounds ||
            !wanted.kernels.starts_with(format.needs)) {
            continue;
        }
        try {
            found.push_back(look.candidate(format));
        } catch (std::length_error const&) { // it does not suit the matrix
        }
    }
    std::ranges::stable_sort(found, {}, &Candidate<T>::nanoseconds);
    return found;
}

template std::vector<Candidate<float>> candidates(sparse::CsrView<float> const&, RowLengths const&,
                                                  Wanted const&);
template std::vector<Candidate<double>> candidates(sparse::CsrView<double> const&,
                                                   RowLengths const&, Wanted const&);

} // namespace spmv
