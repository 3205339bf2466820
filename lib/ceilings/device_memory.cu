#include "ceilings/device_kernels.hpp"

#include "ceilings/device_random.hpp"
#include "ceilings/device_sum.cuh"

#include "cuda/device.hpp"
#include "cuda/error.hpp"

#include <cstdint>

namespace ceilings {

namespace {

constexpr unsigned resident_blocks = 8; ///< of a multiprocessor
constexpr unsigned unroll = 4;          ///< loads of a thread under way at once

template <class T>
__global__ void repeat(T const* values, T* table, std::size_t count)
{
    auto const step = std::size_t{gridDim.x} * device_threads;
    for (auto i = std::size_t{blockIdx.x} * device_threads + threadIdx.x; i < count; i += step) {
        table[i] = values[i % period];
    }
}

//! [device_copy]
/// One vector for each thread: the blocks that wait are the loop.
__global__ void copy_vectors(int4 const* a, int4* b, std::size_t count)
{
    auto const at = std::size_t{blockIdx.x} * device_threads + threadIdx.x;
    if (at < count) {
        b[at] = a[at];
    }
}
//! [device_copy]

/// What is left behind the last whole vector.
template <class T>
__global__ void copy_elements(T const* a, T* b, unsigned count)
{
    if (threadIdx.x < count) {
        b[threadIdx.x] = a[threadIdx.x];
    }
}

__device__ float sum_of(float4 v)
{
    return v.x + v.y + (v.z + v.w);
}
__device__ double sum_of(double2 v)
{
    return v.x + v.y;
}

template <class T>
struct VectorOf;
template <>
struct VectorOf<float>
{
    using Type = float4;
};
template <>
struct VectorOf<double>
{
    using Type = double2;
};
template <class T>
using Vector = typename VectorOf<T>::Type;

//! [device_read]
/// All threads together walk through the table, which begins again after `mask + 1` vectors.
template <class T>
__global__ void read_table(Vector<T> const* table, std::size_t mask, unsigned steps, T* sums)
{
    auto const stride = std::size_t{gridDim.x} * device_threads;
    auto at = std::size_t{blockIdx.x} * device_threads + threadIdx.x;
    T sum[unroll] = {};
    for (unsigned step = 0; step < steps; step += unroll) {
        for (unsigned i = 0; i < unroll; ++i, at += stride) {
            sum[i] += sum_of(__ldcg(table + (at & mask)));
        }
    }
    auto const total = block_sum<device_threads>(sum[0] + sum[1] + (sum[2] + sum[3]));
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = total;
    }
}
//! [device_read]

//! [device_gather]
/// Every load has an address of its own that nothing foresees.
template <class T>
__global__ void gather_table(T const* table, std::uint32_t mask, unsigned steps, T* sums)
{
    auto number = (blockIdx.x * device_threads + threadIdx.x) * steps;
    T sum[unroll] = {};
    for (unsigned step = 0; step < steps; step += unroll) {
        for (unsigned i = 0; i < unroll; ++i, ++number) {
            sum[i] += __ldg(table + (scattered(number) & mask));
        }
    }
    auto const total = block_sum<device_threads>(sum[0] + sum[1] + (sum[2] + sum[3]));
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = total;
    }
}
//! [device_gather]

template <class T>
unsigned blocks_for(std::span<T> sums)
{
    return static_cast<unsigned>(sums.size());
}

} // namespace

unsigned device_blocks()
{
    return resident_blocks * cuda::multiprocessors();
}

template <class T>
void device_repeat(std::span<T const> values, std::span<T> table, cuda::Stream const& stream)
{
    repeat<<<device_blocks(), device_threads, 0, stream.get()>>>(values.data(), table.data(),
                                                                 table.size());
    cuda::check_launch();
}

template <class T>
void device_copy(std::span<T const> a, std::span<T> b, cuda::Stream const& stream)
{
    constexpr auto lanes = sizeof(int4) / sizeof(T);
    auto const vectors = a.size() / lanes;
    if (vectors > 0) {
        copy_vectors<<<static_cast<unsigned>((vectors + device_threads - 1) / device_threads),
                       device_threads, 0, stream.get()>>>(
            reinterpret_cast<int4 const*>(a.data()), reinterpret_cast<int4*>(b.data()), vectors);
        cuda::check_launch();
    }
    if (auto const rest = a.size() % lanes; rest > 0) {
        copy_elements<<<1, lanes, 0, stream.get()>>>(
            a.data() + vectors * lanes, b.data() + vectors * lanes, static_cast<unsigned>(rest));
        cuda::check_launch();
    }
}

template <class T>
void device_read(std::span<T const> table, unsigned steps, std::span<T> sums,
                 cuda::Stream const& stream)
{
    auto const mask = table.size_bytes() / sizeof(Vector<T>) - 1;
    read_table<T><<<blocks_for(sums), device_threads, 0, stream.get()>>>(
        reinterpret_cast<Vector<T> const*>(table.data()), mask, steps, sums.data());
    cuda::check_launch();
}

template <class T>
void device_gather(std::span<T const> table, unsigned steps, std::span<T> sums,
                   cuda::Stream const& stream)
{
    gather_table<<<blocks_for(sums), device_threads, 0, stream.get()>>>(
        table.data(), static_cast<std::uint32_t>(table.size() - 1), steps, sums.data());
    cuda::check_launch();
}

#define INSTANTIATE(T)                                                                             \
    template void device_repeat(std::span<T const>, std::span<T>, cuda::Stream const&);            \
    template void device_copy(std::span<T const>, std::span<T>, cuda::Stream const&);              \
    template void device_read(std::span<T const>, unsigned, std::span<T>, cuda::Stream const&);    \
    template void device_gather(std::span<T const>, unsigned, std::span<T>, cuda::Stream const&);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE
template void device_copy(std::span<std::uint16_t const>, std::span<std::uint16_t>,
                          cuda::Stream const&);

} // namespace ceilings
