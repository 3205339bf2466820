#pragma once

#include "base/half.hpp"
#include "cuda/stream.hpp"
#include "dense/matrix.hpp"

#include <cstddef>
#include <span>

namespace dense::gpu {

/// How products of floats are made; sums are in float. What is named is the least that is kept:
/// where full precision takes no longer, it is taken.
enum class Precision
{
    fp32,  ///< without tensor cores, as `float` has it
    tf32,  ///< operands keep 10 bits behind the point: each may be off by 2^-10 of itself
    tf32x3 ///< three products of TF32, which keep nearly all bits; infinite elements give NaN
};

/// What `gemm` is asked for beside the operands: `c = alpha op(a) op(b) + beta c`.
struct GemmOptions
{
    double alpha = 1; ///< 0: `a` and `b` are not read. Rounded to float but for double
    double beta = 0;  ///< 0: `c` is not read, and may hold anything
    Transposes transposes = {};
    Precision precision = Precision::fp32; ///< of float alone; where no TF32 is, float's own

    /// As many bytes of the device as `gemm_workspace_bytes` says, at a multiple of 256, for nobody
    /// else until the product is done; where there are none they come from the device's pool.
    std::span<std::byte> workspace = {};
};

/// `c = a b`, or what the options say, in the memory of the current device. `T` is float, double,
/// base::fp16 or base::bf16; products of 16 bits are added up in float and rounded once. Matrices
/// may have no elements, gaps between rows and any alignment of their elements; gaps are neither
/// read nor written. The sum over no products is 0. Results repeat bit for bit, but for those of
/// float in full precision before compute capability 9.0: few tiles of it are split into sums that
/// are added as they come.
///
/// Everything is put into `stream`, and nothing waits for the device: the call can be captured in a
/// graph. A transposed operand is copied first, which reads and writes it once more; so is one of
/// 16 bits whose rows do not all begin at multiples of 16 bytes, on GPUs of compute capability 9.0,
/// unless it is small. Not so a product of bf16 of one column, or of one row by a transposed `b`,
/// whose vector has no gaps: it is `gemv`'s, and reads operands where they are, but for a column of
/// at most 132 sums of more than 1024 products. Alpha and beta cost
/// a pass over `c` with float and double, and with beta a copy of it, but nothing with 16 bits.
/// Only such copies need a workspace.
///
/// Throws std::invalid_argument where `dense::gemm` does, for more than 2^31 - 1 rows or columns, a
/// workspace that is too small or not aligned, and of bf16 before compute capability 8.0;
/// cuda::Error if a kernel cannot be launched or the pool has not enough memory.
template <class T>
void gemm(Operand<T> a, Operand<T> b, Matrix<T> c, cuda::Stream const& stream,
          GemmOptions const& options = {});

/// Bytes of workspace that such a product needs on the current device.
template <class T>
std::size_t gemm_workspace_bytes(Operand<T> a, Operand<T> b, Matrix<T> c,
                                 GemmOptions const& options);

} // namespace dense::gpu
