#pragma once

// The kernels of one instruction set; included once by each object that is compiled for one.

#include "spmv/blocked_coo_kernel.hpp"
#include "spmv/compiled_formats.hpp"
#include "spmv/csr_kernel.hpp"

namespace spmv {
namespace {

template <class T>
constexpr FormatKernels<T> format_table(char const* name)
{
    return {
        .name = name,
        .csr = csr<T>,
        .blocked_coo8 = blocked_coo<T, std::uint8_t>,
        .blocked_coo16 = blocked_coo<T, std::uint16_t>,
        .blocked_coo32 = blocked_coo<T, std::uint32_t>,
    };
}

} // namespace
} // namespace spmv
