#include "sparse/formats/ell/ell.hpp"

#include "sparse/formats/stretches.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace sparse {

template <class T>
Ell<T> to_ell(CsrView<T> const& a)
{
    constexpr std::size_t most = 3; // entries for each nonzero
    Ell<T> padded{a.rows, a.columns, 0, a.nonzeros(), {}, {}};
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
    padded.column.resize(stored);
    padded.values.resize(stored);
    parallel_units(a.rows, [&](std::int32_t i) {
        std::int32_t const begin = a.row_ptr[i];
        std::int32_t const length = a.row_ptr[i + 1] - begin;
        for (std::int32_t k = 0; k < padded.width; ++k) {
            auto const at = static_cast<std::size_t>(k) * rows + static_cast<std::size_t>(i);
            padded.column[at] = length == 0 ? 0 : a.col[begin + std::min(k, length - 1)];
            padded.values[at] = k < length ? a.values[begin + k] : T{0};
        }
    });
    return padded;
}

template Ell<float> to_ell(CsrView<float> const&);
template Ell<double> to_ell(CsrView<double> const&);

} // namespace sparse
