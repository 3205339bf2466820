#include "spmv/formats/rows/gpu.hpp"

#include "spmv/device/lanes.hpp"
#include "spmv/device/threads.cuh"

#include "cuda/device.hpp"
#include "cuda/error.hpp"

namespace spmv::gpu {

namespace {

constexpr int vector_threads = 256;

//! [thread_per_row]
template <class T>
__global__ void thread_per_row_kernel(CsrView<T> a, T const* __restrict__ x, T* __restrict__ y)
{
    std::int64_t const row = global_thread();
    if (row < a.rows) {
        T sum = 0;
        for (int p = a.row_ptr[row]; p < a.row_ptr[row + 1]; ++p) {
            sum += a.values[p] * x[a.col[p]];
        }
        y[row] = sum;
    }
}
//! [thread_per_row]

//! [vector_shuffle]
template <int lanes, class T>
__global__ void vector_shuffle_kernel(CsrView<T> a, T const* __restrict__ x, T* __restrict__ y)
{
    std::int64_t const row = global_thread() / lanes;
    int const lane = threadIdx.x % lanes;
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
//! [vector_shuffle]

//! [vector_early]
template <int lanes, class T>
__global__ void vector_early_kernel(CsrView<T> a, T const* x, T* y)
{
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion(); // the next kernel may load its rows
#endif
    std::int64_t const row = global_thread() / lanes;
    int const lane = threadIdx.x % lanes;
    int const begin = row < a.rows ? a.row_ptr[row] + lane : 0;
    int const end = row < a.rows ? a.row_ptr[row + 1] : 0;
    int const first_col = begin < end ? a.col[begin] : 0;
    T const first_value = begin < end ? a.values[begin] : T{0};
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize(); // what was launched before has ended: `x` is there
#endif
    T sum = begin < end ? first_value * x[first_col] : T{0};
    for (int p = begin + lanes; p < end; p += lanes) {
        sum += a.values[p] * x[a.col[p]];
    }
    sum = sum_of_lanes<lanes>(sum);
    if (lane == 0 && row < a.rows) {
        y[row] = sum;
    }
}
//! [vector_early]

//! [vector_shared]
template <int lanes, class T>
__global__ void vector_shared_kernel(CsrView<T> a, T const* __restrict__ x, T* __restrict__ y)
{
    __shared__ T sums[vector_threads];
    std::int64_t const row = global_thread() / lanes;
    int const lane = threadIdx.x % lanes;
    T sum = 0;
    if (row < a.rows) {
        int const end = a.row_ptr[row + 1];
        for (int p = a.row_ptr[row] + lane; p < end; p += lanes) {
            sum += a.values[p] * x[a.col[p]];
        }
    }
    sums[threadIdx.x] = sum;
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
        __syncwarp();
        if (lane < distance) {
            sums[threadIdx.x] += sums[threadIdx.x + distance];
        }
    }
    if (lane == 0 && row < a.rows) {
        y[row] = sums[threadIdx.x];
    }
}
//! [vector_shared]

//! [vector_wide]
template <int lanes, class T>
__global__ void vector_wide_kernel(CsrView<T> a, T const* __restrict__ x, T* __restrict__ y)
{
    constexpr int pack = 4; // columns of 16 bytes, on a boundary of 16 bytes
    std::int64_t const row = global_thread() / lanes;
    int const lane = threadIdx.x % lanes;
    T sum = 0;
    if (row < a.rows) {
        int const begin = a.row_ptr[row];
        int const end = a.row_ptr[row + 1];
        for (int p = begin / pack * pack + lane * pack; p < end; p += lanes * pack) {
            auto const col = load_pack<false, pack>(a.col + p);
            auto const values = load_pack<false, pack>(a.values + p);
            for (int i = 0; i < pack; ++i) {
                if (p + i >= begin && p + i < end) { // else it belongs to another row
                    sum += values.element[i] * x[col.element[i]];
                }
            }
        }
    }
    sum = sum_of_lanes<lanes>(sum);
    if (lane == 0 && row < a.rows) {
        y[row] = sum;
    }
}
//! [vector_wide]

/// Launches `kernel(lanes)`, which takes so many lanes for each row.
template <class Kernel, class T>
void launch_vectors(int lanes, Kernel const& kernel, CsrView<T> const& a, T const* x, T* y,
                    cudaStream_t stream)
{
    with_lanes(lanes, [&](auto constant) {
        if (a.rows > 0) {
            auto const blocks = static_cast<unsigned>(ceil_div(a.rows, vector_threads / constant));
            kernel(constant)<<<blocks, vector_threads, 0, stream>>>(a, x, y);
            ::cuda::check_launch();
        }
    });
}

} // namespace

template <class T>
void thread_per_row(CsrView<T> const& a, T const* x, T* y, cudaStream_t stream)
{
    if (a.rows > 0) {
        auto const blocks = static_cast<unsigned>(ceil_div(a.rows, 512));
        thread_per_row_kernel<<<blocks, 512, 0, stream>>>(a, x, y);
        ::cuda::check_launch();
    }
}

template <class T>
void vector_shuffle(int lanes, CsrView<T> const& a, T const* x, T* y, cudaStream_t stream)
{
    auto const kernel = [](auto constant) { return vector_shuffle_kernel<constant(), T>; };
    launch_vectors(lanes, kernel, a, x, y, stream);
}

template <class T>
void vector_shared(int lanes, CsrView<T> const& a, T const* x, T* y, cudaStream_t stream)
{
    auto const kernel = [](auto constant) { return vector_shared_kernel<constant(), T>; };
    launch_vectors(lanes, kernel, a, x, y, stream);
}

template <class T>
void vector_wide(int lanes, CsrView<T> const& a, T const* x, T* y, cudaStream_t stream)
{
    auto const kernel = [](auto constant) { return vector_wide_kernel<constant(), T>; };
    launch_vectors(lanes, kernel, a, x, y, stream);
}

template <class T>
void vector_early(int lanes, CsrView<T> const& a, T const* x, T* y, cudaStream_t stream)
{
    if (!::cuda::overlaps_launches()) {
        vector_shuffle(lanes, a, x, y, stream);
        return;
    }
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.blockDim = dim3(vector_threads);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    with_lanes(lanes, [&](auto constant) {
        if (a.rows > 0) {
            config.gridDim =
                dim3(static_cast<unsigned>(ceil_div(a.rows, vector_threads / constant)));
            ::cuda::check(cudaLaunchKernelEx(&config, vector_early_kernel<constant(), T>, a, x, y));
        }
    });
}

template void thread_per_row(CsrView<float> const&, float const*, float*, cudaStream_t);
template void thread_per_row(CsrView<double> const&, double const*, double*, cudaStream_t);
template void vector_shuffle(int, CsrView<float> const&, float const*, float*, cudaStream_t);
template void vector_shuffle(int, CsrView<double> const&, double const*, double*, cudaStream_t);
template void vector_early(int, CsrView<float> const&, float const*, float*, cudaStream_t);
template void vector_early(int, CsrView<double> const&, double const*, double*, cudaStream_t);
template void vector_shared(int, CsrView<float> const&, float const*, float*, cudaStream_t);
template void vector_shared(int, CsrView<double> const&, double const*, double*, cudaStream_t);
template void vector_wide(int, CsrView<float> const&, float const*, float*, cudaStream_t);
template void vector_wide(int, CsrView<double> const&, double const*, double*, cudaStream_t);

} // namespace spmv::gpu
