#pragma once

// Included once by each object that is compiled for one instruction set. Everything has internal
// linkage; see `simd/vector.hpp` for why.

#include "spmv/formats/parts.hpp"
#include "spmv/formats/prefetch.hpp"
#include "spmv/formats/run_sum.hpp"

#include "spmv/formats/packed_csrl/packed_csrl.hpp"

#include <cstdint>

namespace spmv {
namespace {

//! [packed_csrl]
template <Ahead ahead, class T>
void packed_csrl(sparse::PackedCsrlView<T> const& a, T const* x, T* y, Range rows)
{
    std::int32_t const* first_piece = a.first_piece.data();
    sparse::Piece const* pieces = a.piece.data();
    T const* values = a.values.data() + a.position(rows.begin);
    std::int32_t p = first_piece[rows.begin];
    for (std::int32_t i = rows.begin; i < rows.end; ++i) {
        RunSum<T> row;
        for (std::int32_t const end = first_piece[i + 1]; p < end; ++p) {
            prefetch_ahead<ahead>(pieces + p);
            std::uint32_t const word = pieces[p].word;
            auto const length = static_cast<std::int32_t>(word % 32) + 1;
            row.template add<ahead>(values, x + (word >> 5), length);
            values += length;
        }
        y[i] = row.total();
    }
}
//! [packed_csrl]

} // namespace
} // namespace spmv
