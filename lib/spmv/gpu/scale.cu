#include "spmv/gpu/scale.hpp"

#include "spmv/device/threads.cuh"

#include "cuda/error.hpp"

namespace spmv::gpu {

namespace {

constexpr int scaling_threads = 256;

template <class T>
__global__ void scale_kernel(T factor, T* y, std::int64_t count)
{
    std::int64_t const i = global_thread();
    if (i < count) {
        y[i] = factor == T{0} ? T{0} : factor * y[i];
    }
}

template <class T>
__global__ void add_scaled_kernel(T alpha, T const* product, T beta, T* y, std::int64_t count)
{
    std::int64_t const i = global_thread();
    if (i < count) {
        y[i] = alpha * product[i] + beta * y[i];
    }
}

unsigned scaling_blocks(std::int64_t count)
{
    return static_cast<unsigned>(ceil_div(count, scaling_threads));
}

} // namespace

template <class T>
void scale(T factor, T* y, std::int64_t count, cudaStream_t stream)
{
    if (count > 0 && factor != T{1}) {
        scale_kernel<<<scaling_blocks(count), scaling_threads, 0, stream>>>(factor, y, count);
        ::cuda::check_launch();
    }
}

template <class T>
void add_scaled(T alpha, T const* product, T beta, T* y, std::int64_t count, cudaStream_t stream)
{
    if (count > 0) {
        add_scaled_kernel<<<scaling_blocks(count), scaling_threads, 0, stream>>>(alpha, product,
                                                                                 beta, y, count);
        ::cuda::check_launch();
    }
}

template void scale(float, float*, std::int64_t, cudaStream_t);
template void scale(double, double*, std::int64_t, cudaStream_t);
template void add_scaled(float, float const*, float, float*, std::int64_t, cudaStream_t);
template void add_scaled(double, double const*, double, double*, std::int64_t, cudaStream_t);

} // namespace spmv::gpu
