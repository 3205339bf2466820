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
    return {
        .name = name,
        .csr = csr<T>,
        .sell = sell<T, T>,
        .sell_streamed = sell_streamed<T, T>,
        .sell_prefetch = sell_prefetch<T, T>,
        .sell_narrow_values = sell<T, float>,
        .csrl = csrl<T>,
        .packed_csrl = packed_csrl<T>,
        .delta_csr = delta_csr<T>,
        .bcsr = bcsr<T>,
        .masked_blocks = masked_blocks<T>,
        .blocked_coo8 = blocked_coo<T, std::uint8_t>,
        .blocked_coo16 = blocked_coo<T, std::uint16_t>,
        .blocked_coo32 = blocked_coo<T, std::uint32_t>,
    };
}

} // namespace
} // namespace spmv
