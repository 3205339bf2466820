#include "kernels.hpp"

#include "cuda/error.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <type_traits>

namespace joules {

namespace {

namespace wmma = nvcuda::wmma;

/// Numbers as CUDA calls them.
template <class T>
using Stored =
    std::conditional_t<std::is_same_v<T, base::fp16>, __half,
                       std::conditional_t<std::is_same_v<T, base::bf16>, __nv_bfloat16, T>>;

/// What fragments are made of.
template <class T>
struct OperandOf
{
    using Type = Stored<T>;
};
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
template <>
struct OperandOf<float>
{
    using Type = wmma::precision::tf32;
};
#endif

//! [tensor_products]
/// Operands stay in registers, and change with each instruction.
template <class T>
__global__ void multiply_tiles(Stored<T> const* a, Stored<T> const* b, std::uint32_t steps,
                               typename Tile<T>::Sum* sums)
{
#if __CUDA_ARCH__ >= 800
    constexpr int m = Tile<T>::m;
    constexpr int n = Tile<T>::n;
    constexpr int k = Tile<T>::k;
    using Operand = typename OperandOf<T>::Type;
    using Sum = typename Tile<T>::Sum;
    wmma::fragment<wmma::matrix_a, m, n, k, Operand, wmma::row_major> left[tile_pairs];
    wmma::fragment<wmma::matrix_b, m, n, k, Operand, wmma::row_major> right[tile_pairs];
    wmma::fragment<wmma::accumulator, m, n, k, Sum> sum[tile_pairs];
    auto const warp = (blockIdx.x * threads_of_block + threadIdx.x) / lanes;
    for (std::size_t i = 0; i < tile_pairs; ++i) {
        auto const pair = (i + warp) % tile_pairs; // neighbours do not work on the same
        wmma::load_matrix_sync(left[i], a + pair * m * k, k);
        wmma::load_matrix_sync(right[i], b + pair * k * n, n);
        wmma::fill_fragment(sum[i], Sum{0});
        if constexpr (std::is_same_v<T, float>) {
            for (auto& x : left[i].x) {
                x = wmma::__float_to_tf32(x);
            }
            for (auto& x : right[i].x) {
                x = wmma::__float_to_tf32(x);
            }
        }
    }
    for (std::uint32_t step = 0; step < steps; ++step) {
        for (std::size_t i = 0; i < tile_pairs; ++i) {
            wmma::mma_sync(sum[i], left[i], right[i], sum[i]);
        }
    }
    for (std::size_t i = 1; i < tile_pairs; ++i) {
        for (int e = 0; e < sum[0].num_elements; ++e) {
            sum[0].x[e] += sum[i].x[e];
        }
    }
    wmma::store_matrix_sync(sums + std::size_t{warp} * m * n, sum[0], n, wmma::mem_row_major);
#endif
}
//! [tensor_products]

} // namespace

std::string_view refuses_tiles()
{
    int device = 0;
    int major = 0;
    cuda::check(cudaGetDevice(&device));
    cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    return major >= 8 ? "" : "tensor cores are asked for as compute capability 8.0 has them";
}

template <class T>
void tensor_products(std::span<T const> a, std::span<T const> b, std::uint32_t steps,
                     std::span<typename Tile<T>::Sum> sums, cuda::Stream const& stream)
{
    multiply_tiles<T><<<blocks(), threads_of_block, 0, stream.get()>>>(
        reinterpret_cast<Stored<T> const*>(a.data()), reinterpret_cast<Stored<T> const*>(b.data()),
        steps, sums.data());
    cuda::check_launch();
}

#define INSTANTIATE(T)                                                                             \
    template void tensor_products(std::span<T const>, std::span<T const>, std::uint32_t,           \
                                  std::span<Tile<T>::Sum>, cuda::Stream const&);
INSTANTIATE(double)
INSTANTIATE(float)
INSTANTIATE(base::fp16)
INSTANTIATE(base::bf16)
INSTANTIATE(std::uint8_t)
#undef INSTANTIATE

} // namespace joules
