#include "sparse/features.hpp"

#include "sparse/check.hpp"
#include "sparse/parallel.hpp"

#include <algorithm>
#include <cmath>

namespace sparse {

namespace {

constexpr std::size_t rows_per_task = 1 << 14;

template <class I>
std::size_t row_length(PatternView<I> const& a, std::size_t row)
{
    return static_cast<std::size_t>(a.row_ptr[row + 1] - a.row_ptr[row]);
}

template <class I>
std::int64_t count_segments(PatternView<I> const& a, std::size_t row)
{
    auto const columns =
        a.col.subspan(static_cast<std::size_t>(a.row_ptr[row]), row_length(a, row));
    std::int64_t segments = columns.empty() ? 0 : 1;
    for (std::size_t p = 1; p < columns.size(); ++p) {
        segments += columns[p] != columns[p - 1] + 1;
    }
    return segments;
}

template <class I>
std::int64_t count_segments(PatternView<I> const& a)
{
    auto const rows = static_cast<std::size_t>(a.rows);
    std::vector<std::int64_t> segments((rows + rows_per_task - 1) / rows_per_task);
    parallel_for(segments.size(), [&](std::size_t task) {
        std::int64_t sum = 0;
        auto const end = std::min(rows, (task + 1) * rows_per_task);
        for (auto row = task * rows_per_task; row < end; ++row) {
            sum += count_segments(a, row);
        }
        segments[task] = sum;
    });
    std::int64_t total = 0;
    for (auto const s : segments) {
        total += s;
    }
    return total;
}

/// The lengths around a known mean: a sum of squares alone would cancel.
template <class I>
double standard_deviation(PatternView<I> const& a, double mean)
{
    double squares = 0.0;
    auto const rows = static_cast<std::size_t>(a.rows);
    for (std::size_t row = 0; row < rows; ++row) {
        auto const difference = static_cast<double>(row_length(a, row)) - mean;
        squares += difference * difference;
    }
    return std::sqrt(squares / static_cast<double>(rows));
}

template <class I>
Features features_of(PatternView<I> const& a)
{
    static_cast<void>(has_sorted_rows(a)); // it is a matrix: in whatever order
    Features f{.rows = a.rows,
               .columns = a.columns,
               .nonzeros = static_cast<std::int64_t>(a.nonzeros()),
               .segments = count_segments(a)};
    for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row) {
        auto const length = static_cast<std::int64_t>(row_length(a, row));
        f.max_row = std::max(f.max_row, length);
        f.empty_rows += length == 0;
    }
    if (a.rows > 0) {
        f.mean_row = static_cast<double>(f.nonzeros) / static_cast<double>(f.rows);
        f.std_row = standard_deviation(a, f.mean_row);
    }
    return f;
}

} // namespace

Features features(PatternView<std::int32_t> const& a)
{
    return features_of(a);
}

Features features(PatternView<std::int64_t> const& a)
{
    return features_of(a);
}

std::vector<std::pair<std::string, double>> named(Features const& f)
{
    return {{"rows", static_cast<double>(f.rows)},
            {"cols", static_cast<double>(f.columns)},
            {"nnz", static_cast<double>(f.nonzeros)},
            {"mean_row", f.mean_row},
            {"max_row", static_cast<double>(f.max_row)},
            {"std_row", f.std_row},
            {"empty_rows", static_cast<double>(f.empty_rows)},
            {"nzseg", static_cast<double>(f.segments)},
            {"nzseg_per_nnz", f.segments_per_nonzero()}};
}

} // namespace sparse
