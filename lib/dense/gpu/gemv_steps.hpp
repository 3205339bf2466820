#pragma once

#include "dense/gpu/gemv.hpp"

#include <string_view>
#include <vector>

/// \file
/// Ways to `gemv`, one idea a step. Sizes agree, are below 2^31 and not 0: `gemv` sees to it.

namespace dense::gpu {

/// What becomes of sums: `y = alpha sum + beta y`, rounded once; `y` is not read where beta is 0.
/// Result i of vector v stands at `data[v * of_vector + i * of_row]`.
struct GemvResult
{
    base::bf16* data = nullptr;
    std::int64_t of_vector = 0;
    std::int64_t of_row = 1;
    float alpha = 1;
    float beta = 0;
};

/// A way to multiply weights of type `W`: Matrix<base::bf16 const>, Fp8Weights or Int4Weights.
template <class W>
struct GemvStep
{
    std::string_view name;
    void (*multiply)(W const& w, Matrix<base::bf16 const> x, GemvResult y,
                     cuda::Stream const& stream);

    /// Why it is not made for these operands or the current device; empty if it is.
    std::string_view (*refuses)(W const& w, Matrix<base::bf16 const> const& x);
};

/// From one thread a row to tensor cores:
/// `naive`, a thread for each result; `warp_rows`, a warp for each, which reads what lies together;
/// `wide_loads`, the same by 16 bytes a thread, four under way; `split_rows`, four rows a block,
/// whose warps share them; `bulk_stages`, eight rows a block by the copy engine through shared
/// memory: all these read the weights once for each vector. In one pass for all vectors: `columns`,
/// as `split_rows`; `tensor_rows`, by tensor cores that the copy engine feeds. Of 4 bits there is
/// only the last.
template <class W>
std::vector<GemvStep<W>> gemv_steps();

/// By the first of `tensor_rows`, `columns` and `warp_rows` that refuses nothing; one vector of
/// bf16 by `columns` first. Throws std::invalid_argument if all of them refuse.
template <class W>
void multiply_vectors(W const& w, Matrix<base::bf16 const> x, GemvResult y,
                      cuda::Stream const& stream);

/// The steps of each source. `W` is not Int4Weights, but for the last.
template <class W>
std::vector<GemvStep<W>> gemv_thread_steps();
template <class W>
GemvStep<W> gemv_bulk_step();
template <class W>
GemvStep<W> gemv_tensor_step();

/// What the functions of `gemv.hpp` with such names do with sizes that agree and are not 0.
void launch_quantise_fp8(Matrix<base::bf16 const> w, Matrix<base::e4m3> elements, float* scales,
                         cuda::Stream const& stream);
void launch_quantise_int4(Matrix<base::bf16 const> w, std::span<std::byte> packed,
                          cuda::Stream const& stream);
void launch_pack_int4(Matrix<std::int8_t const> integers, Matrix<base::fp16 const> scales,
                      std::span<std::byte> packed, cuda::Stream const& stream);
void launch_dequantise(Fp8Weights const& w, Matrix<float> to, cuda::Stream const& stream);
void launch_dequantise(Int4Weights const& w, Matrix<float> to, cuda::Stream const& stream);

} // namespace dense::gpu
