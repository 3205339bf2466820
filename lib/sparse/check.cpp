#include "sparse/check.hpp"

#include "sparse/parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace sparse {

namespace {

[[noreturn]] void refuse(std::string const& found, std::string const& expected)
{
    throw std::invalid_argument{"CSR: found " + found + ", expected " + expected};
}

/// The facts that take no pass.
template <class I>
void check_sizes(PatternView<I> const& a)
{
    using std::to_string;
    if (a.rows < 0 || a.columns < 0) {
        refuse(to_string(a.rows) + " rows and " + to_string(a.columns) + " columns",
               "neither below 0");
    }
    if (a.row_ptr.size() != static_cast<std::size_t>(a.rows) + 1) {
        refuse(to_string(a.row_ptr.size()) + " row offsets for " + to_string(a.rows) + " rows",
               "one more than rows");
    }
    if (a.row_ptr.front() != 0) {
        refuse(to_string(a.row_ptr.front()) + " as the first row offset", "0");
    }
    if (a.row_ptr.back() < 0 || static_cast<std::size_t>(a.row_ptr.back()) != a.nonzeros()) {
        refuse(to_string(a.row_ptr.back()) + " as the last row offset",
               to_string(a.nonzeros()) + ", the number of column indices");
    }
}

/// How often `count(k)` says so for the elements 0 <= `k` < `elements`, counted without a branch,
/// so that compilers use vectors, on all threads.
template <class Count>
std::size_t count_where(std::size_t elements, Count const& count)
{
    constexpr std::size_t stretch = 1 << 16;
    std::vector<std::size_t> counts((elements + stretch - 1) / stretch);
    parallel_for(counts.size(), [&](std::size_t part) {
        auto const says_so = count; // nearer than what it is a copy of: the loop knows all it needs
        auto const end = std::min(elements, (part + 1) * stretch);
        std::uint32_t found = 0;
        for (std::size_t k = part * stretch; k < end; ++k) {
            found += says_so(k) ? 1 : 0;
        }
        counts[part] = found;
    });
    std::size_t all = 0;
    for (auto const found : counts) {
        all += found;
    }
    return all;
}

/// Whether the columns of every row ascend: column indices fall, or stay, only from the last one of
/// a row to the first one of the next. Rows without entries have neither.
template <class I>
bool rows_ascend(PatternView<I> const& a)
{
    I const* const row_ptr = a.row_ptr.data();
    I const* const col = a.col.data();
    if (a.nonzeros() == 0) {
        return true;
    }
    auto const falls =
        count_where(a.nonzeros() - 1, [=](std::size_t p) { return col[p + 1] <= col[p]; });
    auto const between = count_where(static_cast<std::size_t>(a.rows), [=](std::size_t i) {
        bool const has_both = (row_ptr[i] > 0) & (row_ptr[i] < row_ptr[i + 1]); // no branch
        auto const begin = static_cast<std::size_t>(has_both ? row_ptr[i] : 0);
        return has_both & (col[begin] <= col[begin - has_both]);
    });
    return falls == between;
}

/// The row of entry `p`.
template <class I>
std::string row_of(PatternView<I> const& a, std::size_t p)
{
    auto const after = std::ranges::upper_bound(a.row_ptr, static_cast<I>(p));
    return "row " + std::to_string(after - a.row_ptr.begin() - 1);
}

} // namespace

template <class I>
bool has_sorted_rows(PatternView<I> const& a)
{
    check_sizes(a);
    I const* const row_ptr = a.row_ptr.data();
    auto const falls = [=](std::size_t i) { return row_ptr[i + 1] < row_ptr[i]; };
    if (count_where(static_cast<std::size_t>(a.rows), falls) > 0) {
        std::size_t row = 0;
        while (!falls(row)) {
            ++row;
        }
        refuse("row " + std::to_string(row) + " from entry " + std::to_string(row_ptr[row]) +
                   " to " + std::to_string(row_ptr[row + 1]),
               "offsets that never fall");
    }
    using Unsigned = std::make_unsigned_t<I>;
    I const* const col = a.col.data();
    auto const columns = static_cast<Unsigned>(a.columns);
    auto const outside = [=](std::size_t p) { return static_cast<Unsigned>(col[p]) >= columns; };
    if (count_where(a.nonzeros(), outside) > 0) {
        std::size_t p = 0;
        while (!outside(p)) {
            ++p;
        }
        refuse("column " + std::to_string(col[p]) + " in " + row_of(a, p),
               "one of the " + std::to_string(a.columns) + " from 0 on");
    }
    return rows_ascend(a);
}

template <class T, class I>
bool has_sorted_rows(CsrView<T, I> const& a)
{
    if (a.values.size() != a.col.size()) {
        refuse(std::to_string(a.values.size()) + " values",
               std::to_string(a.col.size()) + ", the number of column indices");
    }
    return has_sorted_rows(PatternView<I>{a});
}

template <class T>
void require_sorted_rows(CsrView<T> const& a)
{
    if (has_sorted_rows(a)) {
        return;
    }
    for (std::int32_t row = 0; row < a.rows; ++row) {
        for (auto p = a.row_ptr[row] + 1; p < a.row_ptr[row + 1]; ++p) {
            if (a.col[p] <= a.col[p - 1]) {
                refuse("column " + std::to_string(a.col[p]) + " behind " +
                           std::to_string(a.col[p - 1]) + " in row " + std::to_string(row),
                       "columns that ascend");
            }
        }
    }
}

template bool has_sorted_rows(PatternView<std::int32_t> const&);
template bool has_sorted_rows(PatternView<std::int64_t> const&);
template bool has_sorted_rows(CsrView<float, std::int32_t> const&);
template bool has_sorted_rows(CsrView<double, std::int32_t> const&);
template bool has_sorted_rows(CsrView<float, std::int64_t> const&);
template bool has_sorted_rows(CsrView<double, std::int64_t> const&);
template void require_sorted_rows(CsrView<float> const&);
template void require_sorted_rows(CsrView<double> const&);

} // namespace sparse
