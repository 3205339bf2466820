#include "spmv/gpu/steps/dynamic_rows.hpp"

#include "spmv/device/lanes.hpp"
#include "spmv/device/threads.cuh"

#include "cuda/device.hpp"
#include "cuda/error.hpp"

namespace spmv::gpu {

namespace {

constexpr int block_threads = 1024; // the most that a block may have

//! [dynamic_vector]
template <int lanes, class T>
__global__ void dynamic_vector_kernel(CsrView<T> a, int* next_row, T const* __restrict__ x,
                                      T* __restrict__ y)
{
    int const lane = threadIdx.x % lanes;
    // Vectors of a warp go on at different times: a shuffle must not wait for the others.
    unsigned const vector = (all_lanes >> (warp - lanes)) << (threadIdx.x % warp - lane);
    while (true) {
        int row = lane == 0 ? atomicAdd(next_row, 1) : 0;
        row = __shfl_sync(vector, row, 0, lanes);
        if (row >= a.rows) {
            return;
        }
        int const end = a.row_ptr[row + 1];
        T sum = 0;
        for (int p = a.row_ptr[row] + lane; p < end; p += lanes) {
            sum += a.values[p] * x[a.col[p]];
        }
        for (int distance = lanes / 2; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(vector, sum, distance, lanes);
        }
        if (lane == 0) {
            y[row] = sum;
        }
    }
}
//! [dynamic_vector]

//! [dynamic_warp]
template <int lanes, class T>
__global__ void dynamic_warp_kernel(CsrView<T> a, int* next_row, T const* __restrict__ x,
                                    T* __restrict__ y)
{
    int const lane = threadIdx.x % lanes;
    int const vector = threadIdx.x % warp / lanes;
    while (true) {
        int row = threadIdx.x % warp == 0 ? atomicAdd(next_row, warp / lanes) : 0;
        row = __shfl_sync(all_lanes, row, 0);
        if (row >= a.rows) {
            return;
        }
        row += vector;
        T sum = 0;
        if (row < a.rows) {
            int const end = a.row_ptr[row + 1];
            for (int p = a.row_ptr[row] + lane; p < end; p += lanes) {
                sum += a.values[p] * x[a.col[p]];
            }
        }
        sum = sum_of_lanes<lanes>(sum);
        if (lane == 0 && row < a.rows) {
            y[row] = sum;
        }
    }
}
//! [dynamic_warp]

//! [dynamic_chunked]
template <int lanes, class T>
__global__ void dynamic_chunked_kernel(CsrView<T> a, int* next_row, T const* __restrict__ x,
                                       T* __restrict__ y)
{
    constexpr int batch = warp / lanes; // rows that a warp multiplies at once
    constexpr int batches = 16;         // for one atomic addition
    int const lane = threadIdx.x % lanes;
    int const vector = threadIdx.x % warp / lanes;
    while (true) {
        int first = threadIdx.x % warp == 0 ? atomicAdd(next_row, batch * batches) : 0;
        first = __shfl_sync(all_lanes, first, 0);
        if (first >= a.rows) {
            return;
        }
        int const last = min(first + batch * batches, a.rows);
        for (; first < last; first += batch) {
            int const row = first + vector;
            T sum = 0;
            if (row < last) {
                int const end = a.row_ptr[row + 1];
                for (int p = a.row_ptr[row] + lane; p < end; p += lanes) {
                    sum += a.values[p] * x[a.col[p]];
                }
            }
            sum = sum_of_lanes<lanes>(sum);
            if (lane == 0 && row < last) {
                y[row] = sum;
            }
        }
    }
}
//! [dynamic_chunked]

/// Blocks that are resident at once.
template <class Kernel>
unsigned resident_blocks(Kernel* kernel)
{
    int blocks = 0;
    ::cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block_threads, 0));
    return ::cuda::multiprocessors() * static_cast<unsigned>(blocks);
}

} // namespace

template <class T>
void DynamicRows::operator()(Fetch fetch, int lanes, CsrView<T> const& a, T const* x, T* y,
                             cudaStream_t stream) const
{
    ::cuda::check(cudaMemsetAsync(counter_.data(), 0, counter_.bytes(), stream));
    auto const launch = [&](auto* kernel) {
        kernel<<<resident_blocks(kernel), block_threads, 0, stream>>>(a, counter_.data(), x, y);
        ::cuda::check_launch();
    };
    with_lanes(lanes, [&](auto constant) {
        switch (fetch) {
        case Fetch::vector:
            return launch(dynamic_vector_kernel<constant, T>);
        case Fetch::warp:
            return launch(dynamic_warp_kernel<constant, T>);
        case Fetch::chunked:
            return launch(dynamic_chunked_kernel<constant, T>);
        }
    });
}

template void DynamicRows::operator()(Fetch, int, CsrView<float> const&, float const*, float*,
                                      cudaStream_t) const;
template void DynamicRows::operator()(Fetch, int, CsrView<double> const&, double const*, double*,
                                      cudaStream_t) const;

} // namespace spmv::gpu
