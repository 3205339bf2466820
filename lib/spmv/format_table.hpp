#pragma once

// The kernels of one instruction set; included once by each object that is compiled for one.

#include "spmv/bcsr_kernel.hpp"
#include "spmv/blocked_coo_kernel.hpp"
#include "spmv/compiled_formats.hpp"
#include "spmv/csr_kernel.hpp"
#include "spmv/csrl_kernel.hpp"
#include "spmv/delta_csr_kernel.hpp"
#include "spmv/masked_blocks_kernel.hpp"
#include "spmv/packed_csrl_kernel.hpp"
#include "spmv/sell_kernel.hpp"

namespace spmv {
namespace {

template <class T>
constexpr FormatKernels<T> format_table(char const* name)
{
    constexpr Ahead cached = Ahead::nothing;
    constexpr Ahead streamed = Ahead::matrix;
    return {
        .name = name,
        .csr = {csr<cached, T>, csr<streamed, T>},
        .sell = {sell<cached, T, T>, sell<streamed, T, T>},
        .sell_prefetch = sell<Ahead::matrix_and_vector, T, T>,
        .sell_narrow_values = {sell<cached, T, float>, sell<streamed, T, float>},
        .csrl = {csrl<cached, T>, csrl<streamed, T>},
        .packed_csrl = {packed_csrl<cached, T>, packed_csrl<streamed, T>},
        .delta_csr = {delta_csr<cached, T>, delta_csr<streamed, T>},
        .bcsr = {bcsr<cached, T>, bcsr<streamed, T>},
        .masked_blocks = {masked_blocks<cached, T>, masked_blocks<streamed, T>},
        .blocked_coo8 = blocked_coo<T, std::uint8_t>,
        .blocked_coo16 = blocked_coo<T, std::uint16_t>,
        .blocked_coo32 = blocked_coo<T, std::uint32_t>,
    };
}

} // namespace
} // namespace spmv
