#include "dense/gpu/reference.hpp"

#include "cuda/buffer.hpp"
#include "cuda/error.hpp"
#include "dense/gpu/element.cuh"
#include "dense/gpu/tile.cuh"

#include <stdexcept>

namespace dense::gpu {

namespace {

template <class T>
__global__ void product_kernel(View<T const> a, View<T const> b, long long first, long long count,
                               double* value, double* magnitude)
{
    long long const at = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (at >= count) {
        return;
    }
    long long const i = (first + at) / b.columns;
    long long const j = (first + at) % b.columns;
    double sum = 0;
    double absolute = 0;
    for (long long k = 0; k < a.columns; ++k) {
        double const product = static_cast<double>(widened(a.data[i * a.stride + k])) *
                               static_cast<double>(widened(b.data[k * b.stride + j]));
        sum += product;
        absolute += fabs(product);
    }
    value[at] = sum;
    magnitude[at] = absolute;
}

/// One block for each row, its threads in a tree: double precision needs no more care than that.
template <class T>
__global__ void softmax_kernel(bool logarithms, T const* x, long long columns, double* value,
                               double* below)
{
    __shared__ double part[256];
    long long const row = blockIdx.x * columns;
    auto const reduced = [&](double own, bool adds) {
        part[threadIdx.x] = own;
        __syncthreads();
        for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
            if (threadIdx.x < half) {
                double const other = part[threadIdx.x + half];
                part[threadIdx.x] =
                    adds ? part[threadIdx.x] + other : fmax(part[threadIdx.x], other);
            }
            __syncthreads();
        }
        double const whole = part[0];
        __syncthreads();
        return whole;
    };
    double largest = -INFINITY;
    for (long long i = threadIdx.x; i < columns; i += blockDim.x) {
        largest = fmax(largest, static_cast<double>(widened(x[row + i])));
    }
    largest = reduced(largest, false);
    double sum = 0;
    for (long long i = threadIdx.x; i < columns; i += blockDim.x) {
        sum += exp(static_cast<double>(widened(x[row + i])) - largest);
    }
    sum = reduced(sum, true);
    for (long long i = threadIdx.x; i < columns; i += blockDim.x) {
        double const shifted = static_cast<double>(widened(x[row + i])) - largest;
        value[row + i] = logarithms ? shifted - log(sum) : exp(shifted) / sum;
        below[row + i] = -shifted;
    }
}

} // namespace

template <class T>
void reference_softmax(bool logarithms, T const* x, std::int64_t columns, std::size_t first,
                       std::span<double> value, std::span<double> below, cuda::Stream const& stream)
{
    auto const width = static_cast<std::size_t>(columns);
    if (value.size() != below.size() || value.size() % width != 0 || first % width != 0) {
        throw std::invalid_argument{"reference_softmax: expected whole rows"};
    }
    if (value.empty()) {
        return;
    }
    cuda::Buffer<double> made{value.size()};
    cuda::Buffer<double> distances{value.size()};
    softmax_kernel<<<static_cast<unsigned>(value.size() / width), 256, 0, stream.get()>>>(
        logarithms, x + first, columns, made.data(), distances.data());
    cuda::check_launch();
    stream.synchronize();
    cuda::copy_to_host(value.data(), made.data(), made.bytes());
    cuda::copy_to_host(below.data(), distances.data(), distances.bytes());
}

template void reference_softmax(bool, base::fp16 const*, std::int64_t, std::size_t,
                                std::span<double>, std::span<double>, cuda::Stream const&);
template void reference_softmax(bool, base::bf16 const*, std::int64_t, std::size_t,
                                std::span<double>, std::span<double>, cuda::Stream const&);
template void reference_softmax(bool, float const*, std::int64_t, std::size_t, std::span<double>,
                                std::span<double>, cuda::Stream const&);
template void reference_softmax(bool, double const*, std::int64_t, std::size_t, std::span<double>,
                                std::span<double>, cuda::Stream const&);

template <class T>
void reference_product(Matrix<T const> a, Matrix<T const> b, std::size_t first,
                       std::span<double> value, std::span<double> magnitude,
                       cuda::Stream const& stream)
{
    if (value.size() != magnitude.size()) {
        throw std::invalid_argument{"reference_product: the spans differ"};
    }
    if (value.empty()) {
        return;
    }
    cuda::Buffer<double> made{value.size()};
    cuda::Buffer<double> bounds{value.size()};
    auto const blocks = static_cast<unsigned>((value.size() + 255) / 256);
    product_kernel<<<blocks, 256, 0, stream.get()>>>(
        view_of(a), view_of(b), static_cast<long long>(first), static_cast<long long>(value.size()),
        made.data(), bounds.data());
    cuda::check_launch();
    stream.synchronize();
    cuda::copy_to_host(value.data(), made.data(), made.bytes());
    cuda::copy_to_host(magnitude.data(), bounds.data(), bounds.bytes());
}

template void reference_product(Matrix<base::fp16 const>, Matrix<base::fp16 const>, std::size_t,
                                std::span<double>, std::span<double>, cuda::Stream const&);
template void reference_product(Matrix<base::bf16 const>, Matrix<base::bf16 const>, std::size_t,
                                std::span<double>, std::span<double>, cuda::Stream const&);
template void reference_product(Matrix<float const>, Matrix<float const>, std::size_t,
                                std::span<double>, std::span<double>, cuda::Stream const&);
template void reference_product(Matrix<double const>, Matrix<double const>, std::size_t,
                                std::span<double>, std::span<double>, cuda::Stream const&);

} // namespace dense::gpu
