#pragma once

#include "base/half.hpp"
#include "cuda/stream.hpp"
#include "dense/matrix.hpp"

#include <string_view>
#include <vector>

/// \file
/// `c = a b` on a GPU, one idea a step. All memory is the device's, sizes are below 2^31, and work
/// is put into `stream`. Every step is right for any size and any gaps between rows that it does
/// not refuse.

namespace dense::gpu {

/// A way to multiply.
template <class T>
struct Step
{
    std::string_view name;
    void (*multiply)(Matrix<T const> a, Matrix<T const> b, Matrix<T> c, cuda::Stream const& stream);

    /// Why it is not made for these matrices or the current device; empty if it is.
    std::string_view (*refuses)(Matrix<T const> const& a, Matrix<T const> const& b,
                                Matrix<T> const& c);
};

/// The article's steps, then one idea after the other: from one thread for each element to
/// asynchronous copies. `T` is float or double; of 16 bits those of `gemm_half.hpp`.
template <class T>
std::vector<Step<T>> gemm_steps();
template <>
std::vector<Step<base::fp16>> gemm_steps();
template <>
std::vector<Step<base::bf16>> gemm_steps();

/// The first of these, `one_thread_1d`, by so many threads of the whole device, a multiple of 256
/// or, up to a warp for each multiprocessor, of 32: each takes every `threads`-th element. Warps
/// lie on multiprocessors of their own as far as there are some. Throws std::invalid_argument where
/// threads do not make whole blocks.
void multiply_by_threads(Matrix<float const> a, Matrix<float const> b, Matrix<float> c,
                         std::int64_t threads, cuda::Stream const& stream);

/// The article's listings as they stand, which are wrong: one lacks a barrier, of the other both
/// guards ask for the wrong thing. For tests that show it, and nothing else.
std::vector<Step<float>> wrong_gemm_steps();

/// On tensor cores, from float to float: operands rounded to TF32, to three TF32 products that keep
/// nearly all bits, and to bf16; then TF32 and three products of it with operands loaded by hand,
/// and by Hopper's copy engine.
std::vector<Step<float>> tensor_gemm_steps();

/// Whole in bf16, with sums in float: from tensor cores fed by hand to Hopper's copy engine,
/// clusters and products of shared memory. Rows are whole packs of eight elements and aligned.
std::vector<Step<base::bf16>> bf16_gemm_steps();

/// With one thing more or less, to see what it costs: the last of these by barriers that flush
/// caches, the persistent grid without an order of tiles.
std::vector<Step<base::bf16>> bf16_gemm_removals();

/// The last of these without loads, and with neither loads nor barriers: right where all tiles of
/// `a` (128 x 64) are alike, and all of `b` (64 x 256).
std::vector<Step<base::bf16>> bf16_gemm_of_one_tile();

/// All tiles among which `tensor_fp64` chooses, each by one block and by clusters: for tests.
std::vector<Step<double>> tensor_fp64_tiles();

} // namespace dense::gpu
