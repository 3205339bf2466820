#include "transfer/kernels.hpp"

#include "cuda/device.hpp"
#include "cuda/error.hpp"

#include <algorithm>

namespace transfer {

namespace {

constexpr unsigned threads = 256;
constexpr unsigned warp = 32;

unsigned blocks_for(std::size_t items)
{
    return static_cast<unsigned>((items + threads - 1) / threads);
}

//! [sm_copy]
__global__ void copy(float4 const* from, float4* to, std::size_t count)
{
    std::size_t const step = std::size_t{gridDim.x} * blockDim.x;
    for (auto i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count; i += step) {
        to[i] = from[i];
    }
}
//! [sm_copy]

__device__ double sum_of_warp(double sum)
{
    for (unsigned offset = warp / 2; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    }
    return sum;
}

/// Busy for so many steps; x stays what it was, which the compiler cannot know.
__device__ double kept_busy(double x, int steps)
{
    float zero = 0;
    for (int step = 0; step < steps; ++step) {
        asm volatile("add.f32 %0, %0, %0;" : "+f"(zero));
    }
    return x + static_cast<double>(zero);
}

//! [row_sums]
/// A warp takes a row, a lane every 32nd group of four elements.
__global__ void row_sum(float const* x, std::size_t columns, std::size_t every, int steps,
                        double* sums, std::size_t rows)
{
    auto const row = (blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) / warp;
    if (row >= rows) {
        return;
    }
    auto const* const elements = reinterpret_cast<float4 const*>(x + row * every * columns);
    double sum = 0;
    for (std::size_t i = threadIdx.x % warp; i < columns / 4; i += warp) {
        float4 const four = elements[i];
        sum += (static_cast<double>(four.x) + static_cast<double>(four.y)) +
               (static_cast<double>(four.z) + static_cast<double>(four.w));
        sum = kept_busy(sum, steps);
    }
    sum = sum_of_warp(sum);
    if (threadIdx.x % warp == 0) {
        sums[row] = sum;
    }
}
//! [row_sums]

__global__ void row_product(float const* a, float const* b, std::size_t columns, double* sums,
                            std::size_t rows)
{
    auto const row = (blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) / warp;
    if (row >= rows) {
        return;
    }
    auto const* const left = reinterpret_cast<float4 const*>(a + row * columns);
    auto const* const right = reinterpret_cast<float4 const*>(b + row * columns);
    double sum = 0;
    for (std::size_t i = threadIdx.x % warp; i < columns / 4; i += warp) {
        float4 const p = left[i];
        float4 const q = right[i];
        sum += static_cast<double>(p.x) * static_cast<double>(q.x) +
               static_cast<double>(p.y) * static_cast<double>(q.y) +
               static_cast<double>(p.z) * static_cast<double>(q.z) +
               static_cast<double>(p.w) * static_cast<double>(q.w);
    }
    sum = sum_of_warp(sum);
    if (threadIdx.x % warp == 0) {
        sums[row] = sum;
    }
}

//! [pitched_row_sums]
/// A warp takes a row, a lane every 32nd element.
__global__ void pitched_row_sum(char const* x, std::size_t pitch, std::size_t width, double* sums,
                                std::size_t rows)
{
    auto const row = (blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) / warp;
    if (row >= rows) {
        return;
    }
    auto const* const elements = reinterpret_cast<float const*>(x + row * pitch);
    double sum = 0;
    for (std::size_t i = threadIdx.x % warp; i < width; i += warp) {
        sum += static_cast<double>(elements[i]);
    }
    sum = sum_of_warp(sum);
    if (threadIdx.x % warp == 0) {
        sums[row] = sum;
    }
}
//! [pitched_row_sums]

//! [sines]
__global__ void sines(float const* in, float* out, std::size_t first, std::size_t count)
{
    auto const i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
    if (i < count) {
        auto const x = static_cast<float>(first + i);
        float const s = sinf(x);
        float const c = cosf(x);
        out[i] = in[i] + sqrtf(s * s + c * c);
    }
}
//! [sines]

//! [arcs]
__global__ void arcs(float const* in, float* out, std::size_t first, std::size_t count)
{
    auto const i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
    if (i < count) {
        auto const x = static_cast<float>(first + i);
        float const s = asinf(x);
        float const c = acosf(x);
        out[i] = in[i] + sqrtf(s * s + c * c);
    }
}
//! [arcs]

//! [neighbours]
__global__ void neighbours(std::int32_t const* a, std::int32_t const* b, std::int32_t* c,
                           std::size_t count, int steps)
{
    auto const i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
    if (i < count) {
        auto const next = (i + 1) % 256;
        auto const second = (i + 2) % 256;
        std::uint32_t busy = 0;
        for (int step = 0; step < steps; ++step) { // as it stands: none folded into the next
            asm volatile("mad.lo.u32 %0, %0, %1, %2;"
                         : "+r"(busy)
                         : "r"(1664525U), "r"(1013904223U));
        }
        c[i] = a[i] + a[next] + a[second] + b[i] + b[next] + b[second] +
               static_cast<std::int32_t>(busy);
    }
}
//! [neighbours]

//! [hold]
__global__ void wait_until(int const volatile* released, long long cycles)
{
    auto const begin = clock64();
    while (*released == 0 && clock64() - begin < cycles) {
    }
}
//! [hold]

} // namespace

void copy_by_cores(float const* from, float* to, std::size_t count, unsigned blocks,
                   cudaStream_t stream)
{
    if (count > 0) {
        copy<<<blocks, 2 * threads, 0, stream>>>(reinterpret_cast<float4 const*>(from),
                                                 reinterpret_cast<float4*>(to), count / 4);
        cuda::check_launch();
    }
}

void row_sums(float const* x, std::size_t columns, std::size_t every, int steps,
              std::span<double> sums, cudaStream_t stream)
{
    if (!sums.empty()) {
        row_sum<<<blocks_for(sums.size() * warp), threads, 0, stream>>>(x, columns, every, steps,
                                                                        sums.data(), sums.size());
        cuda::check_launch();
    }
}

void row_products(float const* a, float const* b, std::size_t columns, std::span<double> sums,
                  cudaStream_t stream)
{
    if (!sums.empty()) {
        row_product<<<blocks_for(sums.size() * warp), threads, 0, stream>>>(
            a, b, columns, sums.data(), sums.size());
        cuda::check_launch();
    }
}

void pitched_row_sums(float const* x, std::size_t pitch, std::size_t width, std::span<double> sums,
                      cudaStream_t stream)
{
    if (!sums.empty()) {
        pitched_row_sum<<<blocks_for(sums.size() * warp), threads, 0, stream>>>(
            reinterpret_cast<char const*>(x), pitch, width, sums.data(), sums.size());
        cuda::check_launch();
    }
}

void add_one_by_sines(float const* in, float* out, std::size_t first, std::size_t count,
                      cudaStream_t stream)
{
    if (count > 0) {
        sines<<<blocks_for(count), threads, 0, stream>>>(in, out, first, count);
        cuda::check_launch();
    }
}

void add_one_by_arcs(float const* in, float* out, std::size_t first, std::size_t count,
                     cudaStream_t stream)
{
    if (count > 0) {
        arcs<<<blocks_for(count), threads, 0, stream>>>(in, out, first, count);
        cuda::check_launch();
    }
}

void neighbour_sums(std::int32_t const* a, std::int32_t const* b, std::int32_t* c,
                    std::size_t count, int steps, cudaStream_t stream)
{
    if (count > 0) {
        neighbours<<<blocks_for(count), threads, 0, stream>>>(a, b, c, count, steps);
        cuda::check_launch();
    }
}

void hold(int const* released, cudaStream_t stream)
{
    constexpr long long cycles = 2'000'000'000; // about a second
    wait_until<<<1, 1, 0, stream>>>(released, cycles);
    cuda::check_launch();
}

} // namespace transfer
