#pragma once

// Included once by each object that is compiled for one instruction set. Everything has internal
// linkage; see `simd/vector.hpp` for why.

#include "spmv/formats/parts.hpp"
#include "spmv/formats/prefetch.hpp"
#include "spmv/formats/run_sum.hpp"

#include "spmv/formats/csrl/csrl.hpp"

#include <cstdint>

namespace spmv {
namespace {

//! [csrl]
template <Ahead ahead, class T>
void csrl(sparse::CsrlView<T> const& a, T const* x, T* y, Range rows)
{
    std::int32_t const* first_run = a.first_run.data();
    std::int32_t const* start = a.start.data();
    std::int32_t const* length = a.length.data();
    T const* values = a.values.data() + a.position(rows.begin);
    std::int32_t run = first_run[rows.begin];
    for (std::int32_t i = rows.begin; i < rows.end; ++i) {
        RunSum<T> row;
        for (std::int32_t const end = first_run[i + 1]; run < end; ++run) {
            prefetch_ahead<ahead>(start + run);
            prefetch_ahead<ahead>(length + run);
            row.template add<ahead>(values, x + start[run], length[run]);
            values += length[run];
        }
        y[i] = row.total();
    }
}
//! [csrl]

} // namespace
} // namespace spmv
