#include "spmv/formats/ell/ell.hpp"

#include "sparse/check.hpp"
#include "spmv/formats/stretches.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace sparse {

namespace {

/// Notes the rows that are shorter than others, and those between two that are near each other: to
/// look at them too takes less time than to begin anew.
template <class T>
void note_filled(CsrView<T> const& a, Ell<T>& padded)
{
    constexpr std::int32_t near = 16;
    std::int32_t noted = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        if (a.row_ptr[i + 1] - a.row_ptr[i] == padded.width) {
            continue;
        }
        auto& filled = padded.filled;
        if (filled.empty() || i - filled.back().end >= near) {
            filled.push_back({i, i});
        }
        noted += i + 1 - filled.back().end;
        filled.back().end = i + 1;
    }
    padded.mostly_filled = noted > a.rows / 2;
    if (padded.mostly_filled) {
        padded.filled = {};
    }
}

} // namespace

template <class T>
Ell<T> to_ell(CsrView<T> const& a)
{
    require_sorted_rows(a);
    constexpr std::size_t most = 3; // entries for each nonzero
    Ell<T> padded{a.rows, a.columns, 0, a.nonzeros(), {}, {}, false, {}};
    for (std::int32_t i = 0; i < a.rows; ++i) {
        padded.width = std::max(padded.width, a.row_ptr[i + 1] - a.row_ptr[i]);
    }
    auto const rows = static_cast<std::size_t>(a.rows);
    auto const stored = rows * static_cast<std::size_t>(padded.width);
    if (stored > most * a.nonzeros()) {
        throw std::length_error{"the longest row has " + std::to_string(padded.width) +
                                " nonzeros: ELLPACK would store " + std::to_string(stored) +
                                " entries for " + std::to_string(a.nonzeros())};
    }
    note_filled(a, padded);
    padded.column.resize(stored);
    padded.values.resize(stored);
    parallel_units(a.rows, [&](std::int32_t i) {
        std::int32_t const begin = a.row_ptr[i];
        std::int32_t const length = a.row_ptr[i + 1] - begin;
        for (std::int32_t k = 0; k < padded.width; ++k) {
            auto const at = static_cast<std::size_t>(k) * rows + static_cast<std::size_t>(i);
            padded.column[at] = length == 0 ? 0 : a.col[begin + std::min(k, length - 1)];
            padded.values[at] = k < length ? entry(a.values[begin + k]) : fill<T>;
        }
    });
    return padded;
}

template Ell<float> to_ell(CsrView<float> const&);
template Ell<double> to_ell(CsrView<double> const&);

} // namespace sparse
