#include "dense/gpu/reference.hpp"

#include "cuda/buffer.hpp"
#include "cuda/error.hpp"

#include <stdexcept>

namespace dense::gpu {

namespace {

template <class T>
__global__ void product_kernel(T const* a, T const* b, long long columns, long long depth,
                               long long first, long long count, double* value, double* magnitude)
{
    long long const at = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (at >= count) {
        return;
    }
    long long const i = (first + at) / columns;
    long long const j = (first + at) % columns;
    double sum = 0;
    double absolute = 0;
    for (long long k = 0; k < depth; ++k) {
        double const product =
            static_cast<double>(a[i * depth + k]) * static_cast<double>(b[k * columns + j]);
        sum += product;
        absolute += fabs(product);
    }
    value[at] = sum;
    magnitude[at] = absolute;
}

} // namespace

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
        a.data, b.data, b.columns, a.columns, static_cast<long long>(first),
        static_cast<long long>(value.size()), made.data(), bounds.data());
    cuda::check_launch();
    stream.synchronize();
    cuda::copy_to_host(value.data(), made.data(), made.bytes());
    cuda::copy_to_host(magnitude.data(), bounds.data(), bounds.bytes());
}

template void reference_product(Matrix<float const>, Matrix<float const>, std::size_t,
                                std::span<double>, std::span<double>, cuda::Stream const&);
template void reference_product(Matrix<double const>, Matrix<double const>, std::size_t,
                                std::span<double>, std::span<double>, cuda::Stream const&);

} // namespace dense::gpu
