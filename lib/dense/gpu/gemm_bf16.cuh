#pragma once

#include "base/half.hpp"
#include "dense/gpu/element.cuh"
#include "dense/gpu/tile.cuh"

#include <cstdint>
#include <string_view>
#include <vector>

/// \file
/// What the steps in bf16 share, by `mma.sync` and on Hopper. For .cu files only.

namespace dense::gpu {

using base::bf16;

/// A block makes so many elements of c, and sums over so much of the depth at a time: a row of a's
/// tile has 128 bytes, eight packs.
constexpr int rows_of_block = 128;
constexpr int columns_of_block = 128;
constexpr int depth_of_block = 64;
constexpr int wide = Pack<bf16>::size;
constexpr int packs_a = depth_of_block / wide;
constexpr int packs_b = columns_of_block / wide;

/// Loads a pack of memory into shared memory, zeros unless it `is_there`. As four words: elements
/// of 16 bits compilers would move one by one.
__device__ inline void load_pack(Pack<bf16>* to, bf16 const* from, bool is_there)
{
    *reinterpret_cast<uint4*>(to) =
        is_there ? *reinterpret_cast<uint4 const*>(from) : uint4{0, 0, 0, 0};
}

/// The same without a register, as an asynchronous copy that is committed and waited for. PTX ISA,
/// cp.async: of so many bytes as its last operand says, the rest are zeros.
__device__ inline void copy_pack(Pack<bf16>* to, bf16 const* from, bool is_there)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from), "r"(is_there ? 16 : 0)
                 : "memory");
#else
    __trap(); // refuses_bf16 keeps older GPUs from here
#endif
}

/// Stores two neighbours of a row, unless they are beyond the matrix.
__device__ inline void store_pair(View<bf16> const& to, int i, int j, float first, float second)
{
    if (i < to.rows && j < to.columns) {
        *reinterpret_cast<std::uint32_t*>(to.data + i * to.stride + j) =
            packed<bf16>(first, second);
    }
}

/// Why the steps in bf16 are not made for such matrices; empty if they are.
inline std::string_view refuses_rows(Matrix<bf16 const> const& a, Matrix<bf16 const> const& b,
                                     Matrix<bf16> const& c)
{
    bool const are_whole = a.columns > 0 && a.columns % wide == 0 && b.columns % wide == 0 &&
                           has_aligned_rows(a.data, a.stride) &&
                           has_aligned_rows(b.data, b.stride) && has_aligned_rows(c.data, c.stride);
    return are_whole ? "" : "it takes rows of whole packs, 16 bytes, that are aligned";
}

/// The steps that only GPUs of compute capability 9.0 can take.
std::vector<Step<bf16>> hopper_steps();

} // namespace dense::gpu
