#include "dense/gpu/gemm_wgmma.hpp"

#include "base/half.hpp"
#include "cuda/error.hpp"
#include "dense/gpu/hopper.cuh"
#include "dense/gpu/tile.cuh"

#include <algorithm>

namespace dense::gpu {

namespace {

constexpr int lanes = 32;
constexpr int rows_of_block = 8;

/// A thread for each pack of 16 bytes, made of the two packs of memory that it lies across; where
/// these reach beyond the matrix it is put together element by element.
__global__ void __launch_bounds__(lanes* rows_of_block)
    align_kernel(View<std::uint16_t const> from, View<std::uint16_t> to)
{
    let_next_begin();
    wait_for_previous();
    constexpr int wide = Pack<std::uint16_t>::size;
    int const j = static_cast<int>(blockIdx.x * lanes + threadIdx.x) * wide;
    if (j >= from.columns) {
        return;
    }
    auto const* const end = from.data + (from.rows - 1) * from.stride + from.columns;
    int const step = gridDim.y * rows_of_block;
    for (std::int64_t i = blockIdx.y * rows_of_block + threadIdx.y; i < from.rows; i += step) {
        auto const* const at = from.data + i * from.stride + j;
        auto const place = reinterpret_cast<std::uintptr_t>(at);
        auto const* const first = reinterpret_cast<std::uint16_t const*>(place - place % 16);
        auto* const pack = reinterpret_cast<uint4*>(to.data + i * to.stride + j);
        if (first < from.data || first + 2 * wide > end || j + wide > from.columns) {
            Pack<std::uint16_t> elements = {};
            for (int x = 0; x < min(wide, from.columns - j); ++x) {
                elements.value[x] = at[x];
            }
            *pack = reinterpret_cast<uint4 const&>(elements);
            continue;
        }
        auto const low = *reinterpret_cast<uint4 const*>(first);
        auto const high = *reinterpret_cast<uint4 const*>(first + wide);
        std::uint32_t word[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
        auto const skipped =
            static_cast<int>(place % 16); // bytes: words by moves, the rest by bits
#pragma unroll
        for (int move = 2; move > 0; move /= 2) {
            if ((skipped / 4 & move) != 0) {
#pragma unroll
                for (int x = 0; x + move < 8; ++x) {
                    word[x] = word[x + move];
                }
            }
        }
        int const bits = skipped % 4 * 8;
        *pack = make_uint4(
            __funnelshift_r(word[0], word[1], bits), __funnelshift_r(word[1], word[2], bits),
            __funnelshift_r(word[2], word[3], bits), __funnelshift_r(word[3], word[4], bits));
    }
}

} // namespace

template <class T>
void align_rows(Matrix<T const> from, Matrix<T> to, cuda::Stream const& stream)
{
    auto const bits = [](auto* data, auto const& m) {
        return view_of(Matrix{data, m.rows, m.columns, m.stride});
    };
    constexpr std::int64_t most_blocks = 8192; // downwards: each then has several rows
    cudaLaunchConfig_t config{};
    config.gridDim =
        dim3(static_cast<unsigned>(ceil_div(from.columns, lanes * Pack<T>::size)),
             static_cast<unsigned>(std::min(ceil_div(from.rows, rows_of_block), most_blocks)));
    config.blockDim = dim3(lanes, rows_of_block);
    config.stream = stream.get();
    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &early;
    config.numAttrs = 1;
    cuda::check(cudaLaunchKernelEx(&config, align_kernel,
                                   bits(reinterpret_cast<std::uint16_t const*>(from.data), from),
                                   bits(reinterpret_cast<std::uint16_t*>(to.data), to)));
}

template void align_rows(Matrix<base::fp16 const>, Matrix<base::fp16>, cuda::Stream const&);
template void align_rows(Matrix<base::bf16 const>, Matrix<base::bf16>, cuda::Stream const&);

} // namespace dense::gpu
