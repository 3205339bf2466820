#include "transfer/testing/double_rows.hpp"

#include "cuda/error.hpp"

namespace transfer::testing {

namespace {

constexpr unsigned threads = 256;

/// A block takes a row.
__global__ void double_row(char const* x, std::size_t x_pitch, char* y, std::size_t y_pitch,
                           std::size_t width)
{
    auto const* const from = reinterpret_cast<float const*>(x + blockIdx.x * x_pitch);
    auto* const to = reinterpret_cast<float*>(y + blockIdx.x * y_pitch);
    for (std::size_t i = threadIdx.x; i < width; i += threads) {
        to[i] = 2 * from[i];
    }
}

} // namespace

void double_rows(float const* x, std::size_t x_pitch, float* y, std::size_t y_pitch,
                 std::size_t width, std::size_t rows, cudaStream_t stream)
{
    if (width * rows > 0) {
        double_row<<<static_cast<unsigned>(rows), threads, 0, stream>>>(
            reinterpret_cast<char const*>(x), x_pitch, reinterpret_cast<char*>(y), y_pitch, width);
        cuda::check_launch();
    }
}

} // namespace transfer::testing
