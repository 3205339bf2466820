#include "spmv/gpu/steps/roof.hpp"

#include "spmv/device/threads.cuh"

#include "cuda/error.hpp"

#include <algorithm>

namespace spmv::gpu {

namespace {

//! [csr_roof]
template <class T>
__global__ __launch_bounds__(roof_threads, 8) void csr_roof_kernel(CsrView<T> a,
                                                                   T const* __restrict__ x,
                                                                   T* __restrict__ y)
{
    constexpr int pack = 16 / sizeof(T);
    constexpr int packs = roof_entries / roof_threads / pack;
    std::int64_t const first = std::int64_t{blockIdx.x} * roof_entries;
    Pack<int, pack> col[packs];
    Pack<T, pack> value[packs];
#pragma unroll
    for (int i = 0; i < packs; ++i) {
        std::int64_t const entry = first + (i * roof_threads + threadIdx.x) * pack;
        std::int64_t const from = entry < a.nonzeros ? entry : first;
        col[i] = load_once<pack>(a.col + from);
        value[i] = load_once<pack>(a.values + from);
    }
    T sum = 0;
#pragma unroll
    for (int i = 0; i < packs; ++i) {
        std::int64_t const entry = first + (i * roof_threads + threadIdx.x) * pack;
#pragma unroll
        for (int j = 0; j < pack; ++j) {
            T const product =
                a.nonzeros > 0 ? value[i].element[j] * __ldg(x + col[i].element[j]) : 0;
            sum += entry + j < a.nonzeros ? product : T{0};
        }
    }
    auto const last_row = (blockIdx.x + 1) * std::int64_t{a.rows} / gridDim.x;
    for (auto row = blockIdx.x * std::int64_t{a.rows} / gridDim.x + threadIdx.x; row < last_row;
         row += roof_threads) {
        y[row] = sum + static_cast<T>(a.row_ptr[row + 1] - a.row_ptr[row]);
    }
    if (sum != sum) { // never; but without it, threads that have no row would not need their sums
        y[0] = sum;
    }
}
//! [csr_roof]

} // namespace

template <class T>
void csr_roof(CsrView<T> const& a, T const* x, T* y, cudaStream_t stream)
{
    auto const blocks = std::max(ceil_div(a.nonzeros, roof_entries), std::int64_t{1});
    csr_roof_kernel<<<static_cast<unsigned>(blocks), roof_threads, 0, stream>>>(a, x, y);
    ::cuda::check_launch();
}

template void csr_roof(CsrView<float> const&, float const*, float*, cudaStream_t);
template void csr_roof(CsrView<double> const&, double const*, double*, cudaStream_t);

} // namespace spmv::gpu
