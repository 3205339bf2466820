#include "spmv/plan/long_rows.hpp"

#include "spmv/formats/runs.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace spmv {

namespace {

template <class T>
std::int32_t length(sparse::CsrView<T> const& a, std::int32_t i)
{
    return a.row_ptr[static_cast<std::size_t>(i) + 1] - a.row_ptr[static_cast<std::size_t>(i)];
}

} // namespace

template <class T>
RowLengths row_lengths(sparse::CsrView<T> const& a)
{
    RowLengths found;
    double const mean = static_cast<double>(a.nonzeros()) / std::max(1, a.rows);
    found.limit = static_cast<std::int32_t>(std::max(128.0, std::min(4 * mean, 1e9)));
    for (std::int32_t i = 0; i < a.rows; ++i) {
        found.max = std::max(found.max, length(a, i));
    }
    for (std::int32_t i = 0; i < a.rows && found.max > found.limit; ++i) {
        if (length(a, i) > found.limit) {
            ++found.long_rows;
            found.nonzeros += length(a, i);
            found.runs += sparse::count_runs(a, i, std::numeric_limits<std::int32_t>::max());
        }
    }
    if (found.long_rows == 0) {
        found.limit = std::numeric_limits<std::int32_t>::max();
    }
    return found;
}

template <class T>
LongRows<T> long_rows(sparse::CsrView<T> const& a, std::int32_t longest, std::int32_t piece)
{
    LongRows<T> found;
    found.pieces.columns = a.columns;
    found.first_piece.push_back(0);
    for (std::int32_t i = 0; i < a.rows; ++i) {
        if (length(a, i) <= longest) {
            continue;
        }
        std::int32_t const end = a.row_ptr[static_cast<std::size_t>(i) + 1];
        for (std::int32_t p = end - length(a, i); p < end;) {
            std::int32_t const stop = p + std::min(piece, end - p);
            found.pieces.col.insert(found.pieces.col.end(), a.col.begin() + p,
                                    a.col.begin() + stop);
            found.pieces.values.insert(found.pieces.values.end(), a.values.begin() + p,
                                       a.values.begin() + stop);
            found.pieces.row_ptr.push_back(static_cast<std::int32_t>(found.pieces.col.size()));
            p = stop;
        }
        found.rows.push_back(i);
        found.first_piece.push_back(static_cast<std::int32_t>(found.pieces.row_ptr.size()) - 1);
    }
    found.pieces.rows = found.first_piece.back();
    return found;
}

template <class T>
sparse::Csr<T> without_long_rows(sparse::CsrView<T> const& a, std::int32_t longest)
{
    sparse::Csr<T> rest;
    rest.rows = a.rows;
    rest.columns = a.columns;
    rest.row_ptr.resize(static_cast<std::size_t>(a.rows) + 1);
    for (std::int32_t i = 0; i < a.rows; ++i) {
        auto const at = static_cast<std::size_t>(i);
        rest.row_ptr[at + 1] = rest.row_ptr[at] + (length(a, i) <= longest ? length(a, i) : 0);
    }
    rest.col.resize(static_cast<std::size_t>(rest.row_ptr.back()));
    rest.values.resize(rest.col.size());
#pragma omp parallel for schedule(static)
    for (std::int32_t i = 0; i < a.rows; ++i) {
        auto const from = a.row_ptr[static_cast<std::size_t>(i)];
        auto const to = rest.row_ptr[static_cast<std::size_t>(i)];
        auto const count = rest.row_ptr[static_cast<std::size_t>(i) + 1] - to;
        std::copy_n(a.col.begin() + from, count, rest.col.begin() + to);
        std::copy_n(a.values.begin() + from, count, rest.values.begin() + to);
    }
    return rest;
}

template RowLengths row_lengths(sparse::CsrView<float> const&);
template RowLengths row_lengths(sparse::CsrView<double> const&);
template LongRows<float> long_rows(sparse::CsrView<float> const&, std::int32_t, std::int32_t);
template LongRows<double> long_rows(sparse::CsrView<double> const&, std::int32_t, std::int32_t);
template sparse::Csr<float> without_long_rows(sparse::CsrView<float> const&, std::int32_t);
template sparse::Csr<double> without_long_rows(sparse::CsrView<double> const&, std::int32_t);

} // namespace spmv
