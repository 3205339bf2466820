#include "ceilings/device_kernels.hpp"

#include "ceilings/device_sum.cuh"

#include "cuda/error.hpp"

namespace ceilings {

namespace {

/// `words` elements that one load brings.
template <class T, unsigned words>
struct alignas(words * sizeof(T)) Words
{
    T at[words];
};

//! [device_shared]
/// The words of a warp lie side by side: one from each bank, elsewhere in each step.
template <class T, unsigned words>
__global__ void read_shared(T const* values, unsigned steps, T* sums)
{
    constexpr unsigned entries = shared_words / words;
    constexpr unsigned loads = 4; ///< with one address
    constexpr unsigned apart = 32;
    constexpr unsigned odd = 33; ///< so that a thread comes to every entry
    __shared__ Words<T, words> held[entries + (loads - 1) * apart];
    auto* const elements = reinterpret_cast<T*>(held);
    for (auto i = threadIdx.x; i < sizeof held / sizeof(T); i += device_threads) {
        elements[i] = values[i % shared_words];
    }
    __syncthreads();

    T sum[words] = {};
    auto at = threadIdx.x;
    for (unsigned step = 0; step < steps; step += loads * words) {
        for (unsigned load = 0; load < loads; ++load) {
            auto const loaded = held[at % entries + load * apart];
            for (unsigned i = 0; i < words; ++i) {
                sum[i] += loaded.at[i];
            }
        }
        at += odd;
    }
    for (unsigned i = 1; i < words; ++i) {
        sum[0] += sum[i];
    }
    auto const total = block_sum<device_threads>(sum[0]);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = total;
    }
}
//! [device_shared]

//! [device_fma]
/// Chains that do not wait for each other, in registers.
template <class T>
__global__ void multiply_add(T const* start, T x, T y, T* sums)
{
    T chain[device_chains];
    for (unsigned i = 0; i < device_chains; ++i) {
        chain[i] = start[i];
    }
#pragma unroll 16
    for (unsigned step = 0; step < device_fma_steps; ++step) {
        for (unsigned i = 0; i < device_chains; ++i) {
            chain[i] = fma(x, y, chain[i]);
        }
    }
    T sum = 0;
    for (unsigned i = 0; i < device_chains; ++i) {
        sum += chain[i];
    }
    sums[blockIdx.x * device_threads + threadIdx.x] = sum;
}
//! [device_fma]

//! [device_take]
/// Row numbers for whoever is idle: a warp asks for `chunk` of them with one atomic operation.
template <class T>
__global__ void take(unsigned* counter, unsigned chunk, unsigned count, T* taken)
{
    constexpr unsigned all = 0xffffffff;
    auto const lane = threadIdx.x % 32;
    for (;;) {
        auto first = lane == 0 ? atomicAdd(counter, chunk) : 0;
        first = __shfl_sync(all, first, 0);
        if (first >= count) {
            return;
        }
        for (auto i = first + lane; i < min(first + chunk, count); i += 32) {
            taken[i] = 1;
        }
    }
}
//! [device_take]

//! [device_launch]
template <class T>
__global__ void mark(T* element)
{
    *element = 1;
}
//! [device_launch]

} // namespace

template <class T>
void device_shared(std::span<T const> values, unsigned steps, bool is_wide, std::span<T> sums,
                   cuda::Stream const& stream)
{
    auto* const kernel = is_wide ? &read_shared<T, 16 / sizeof(T)> : &read_shared<T, 1>;
    kernel<<<static_cast<unsigned>(sums.size()), device_threads, 0, stream.get()>>>(
        values.data(), steps, sums.data());
    cuda::check_launch();
}

template <class T>
void device_fma(std::span<T const> start, T x, T y, std::span<T> sums, cuda::Stream const& stream)
{
    multiply_add<<<static_cast<unsigned>(sums.size() / device_threads), device_threads, 0,
                   stream.get()>>>(start.data(), x, y, sums.data());
    cuda::check_launch();
}

template <class T>
void device_take(unsigned* counter, unsigned chunk, std::span<T> taken, cuda::Stream const& stream)
{
    cuda::check(cudaMemsetAsync(counter, 0, sizeof *counter, stream.get()));
    take<<<device_blocks(), device_threads, 0, stream.get()>>>(
        counter, chunk, static_cast<unsigned>(taken.size()), taken.data());
    cuda::check_launch();
}

template <class T>
void device_launches(std::span<T> marks, cuda::Stream const& stream)
{
    for (std::size_t i = 0; i < marks.size(); ++i) {
        mark<<<1, 1, 0, stream.get()>>>(marks.data() + i);
        cuda::check_launch();
    }
}

#define INSTANTIATE(T)                                                                             \
    template void device_shared(std::span<T const>, unsigned, bool, std::span<T>,                  \
                                cuda::Stream const&);                                              \
    template void device_fma(std::span<T const>, T, T, std::span<T>, cuda::Stream const&);         \
    template void device_take(unsigned*, unsigned, std::span<T>, cuda::Stream const&);             \
    template void device_launches(std::span<T>, cuda::Stream const&);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

} // namespace ceilings
