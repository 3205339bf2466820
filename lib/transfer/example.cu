// Doubles an array on the host, in chunks through the GPU: `example`. Uses the installed library.
#include <cuda/error.hpp>
#include <cuda/pinned.hpp>
#include <transfer/pipeline.hpp>

#include <algorithm>
#include <iostream>

__global__ void twice(float const* in, float* out, std::size_t count)
{
    auto const i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
    if (i < count) {
        out[i] = 2 * in[i];
    }
}

int main()
try {
    constexpr std::size_t count = 100'000'000;
    constexpr std::size_t chunk = 4'000'000;
    cuda::Pinned<float> in{count};
    cuda::Pinned<float> out{count};
    std::ranges::fill(in.span(), 1.0F);
    cuda::Stream const stream;
    transfer::Pipeline<float> pipeline{chunk}; // holds memory of the device for three chunks
    pipeline(
        in.span(), out.span(),
        [](std::span<float const> x, std::span<float> y, std::size_t, cudaStream_t lane) {
            auto const blocks = static_cast<unsigned>((x.size() + 255) / 256);
            twice<<<blocks, 256, 0, lane>>>(x.data(), y.data(), x.size());
            cuda::check_launch();
        },
        stream.get());
    stream.synchronize();
    std::cout << std::ranges::count(out.span(), 2.0F) << '\n';
} catch (cuda::Error const& error) { // no GPU, or not enough memory
    std::cerr << error.what() << '\n';
    return 2;
}
