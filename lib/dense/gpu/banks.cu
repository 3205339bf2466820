#include "dense/gpu/banks.hpp"

#include "cuda/error.hpp"

#include <cooperative_groups.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace dense::gpu {

namespace {

constexpr int unrolled = 16; // accesses in flight, so that latency hides behind them
constexpr int most_words = 12 * 1024;
constexpr int never_read = 0x7fc12345; // a NaN that no input holds

// Volatile in PTX: the assembler merges equal loads that are only `asm volatile`.
template <int words>
__device__ void read_shared(unsigned address, float* value)
{
    if constexpr (words == 1) {
        asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(value[0]) : "r"(address));
    } else if constexpr (words == 2) {
        asm volatile("ld.volatile.shared.v2.f32 {%0, %1}, [%2];"
                     : "=f"(value[0]), "=f"(value[1])
                     : "r"(address));
    } else {
        asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(value[0]), "=f"(value[1]), "=f"(value[2]), "=f"(value[3])
                     : "r"(address));
    }
}

template <int words>
__device__ void write_shared(unsigned address, float const* value)
{
    if constexpr (words == 1) {
        asm volatile("st.volatile.shared.f32 [%0], %1;" ::"r"(address), "f"(value[0]) : "memory");
    } else if constexpr (words == 2) {
        asm volatile("st.volatile.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(value[0]),
                     "f"(value[1])
                     : "memory");
    } else {
        asm volatile("st.volatile.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address),
                     "f"(value[0]), "f"(value[1]), "f"(value[2]), "f"(value[3])
                     : "memory");
    }
}

//! [bank_cycles]
/// All warps of a block repeat one access, so that shared memory is always busy. The first thread
/// takes the time from when all are ready to when all are done.
template <Access access, int words>
__global__ void __launch_bounds__(warps_of_block* warp_lanes)
    bank_cycles_kernel(std::int32_t const* word, float const* values, int count, float* results,
                       long long* cycles)
{
    __shared__ float shared[most_words];
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        shared[i] = access == Access::read ? values[i] : 0;
    }
    int const lane = threadIdx.x % warp_lanes;
    int const first = word[lane];
    auto const address = static_cast<unsigned>(__cvta_generic_to_shared(shared + first));
    float value[words];
    for (int i = 0; i < words; ++i) {
        value[i] = access == Access::write ? values[first + i] : 0;
    }
    __syncthreads();
    long long const begin = clock64();
#pragma unroll 1
    for (int k = 0; k < accesses_of_warp; k += unrolled) {
#pragma unroll
        for (int n = 0; n < unrolled; ++n) {
            if (access == Access::read) {
                read_shared<words>(address, value);
            } else {
                write_shared<words>(address, value);
            }
        }
    }
    if (access == Access::read && __float_as_int(value[0]) == never_read) {
        *cycles = 0; // only so that the last read has to arrive before the end
    }
    __syncthreads();
    long long const end = clock64();
    if (threadIdx.x == 0) {
        *cycles = end - begin;
    }
    if (threadIdx.x < warp_lanes) {
        for (int i = 0; i < words; ++i) {
            results[lane * words + i] = access == Access::read ? value[i] : shared[first + i];
        }
    }
}
//! [bank_cycles]

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
namespace cg = cooperative_groups;

//! [distributed]
/// Every block of a cluster reads words of its own shared memory, or of the next block's.
__global__ void distributed_kernel(bool remote, float const* values, float* results,
                                   long long* cycles)
{
    constexpr int count = 1024;
    __shared__ float shared[count];
    auto const cluster = cg::this_cluster();
    shared[threadIdx.x] = values[threadIdx.x];
    cluster.sync();
    unsigned const rank = cluster.block_rank();
    unsigned const from = remote ? (rank + 1) % cluster.num_blocks() : rank;
    float const volatile* const there = cluster.map_shared_rank(shared, from);
    float value = 0;
    cluster.sync();
    long long const begin = clock64();
#pragma unroll 1
    for (int k = 0; k < accesses_of_warp; k += unrolled) {
#pragma unroll
        for (int n = 0; n < unrolled; ++n) {
            value = there[threadIdx.x];
        }
    }
    if (__float_as_int(value) == never_read) {
        *cycles = 0; // only so that the last read has to arrive before the end
    }
    __syncthreads();
    long long const end = clock64();
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        *cycles = end - begin;
    }
    results[blockIdx.x * count + threadIdx.x] = value;
    cluster.sync(); // nobody leaves while others read its memory
}
//! [distributed]
#else
__global__ void distributed_kernel(bool, float const*, float*, long long*)
{
    __trap();
}
#endif

template <Access access, int words>
void launch(AccessPattern const& pattern, std::int32_t const* word, std::span<float const> values,
            std::span<float> results, long long* cycles, cuda::Stream const& stream)
{
    bank_cycles_kernel<access, words><<<1, warps_of_block * warp_lanes, 0, stream.get()>>>(
        word, values.data(), pattern.words(), results.data(), cycles);
    cuda::check_launch();
}

template <Access access>
void launch_for_words(AccessPattern const& pattern, std::int32_t const* word,
                      std::span<float const> values, std::span<float> results, long long* cycles,
                      cuda::Stream const& stream)
{
    auto const kernel = pattern.bytes == 4   ? launch<access, 1>
                        : pattern.bytes == 8 ? launch<access, 2>
                                             : launch<access, 4>;
    kernel(pattern, word, values, results, cycles, stream);
}

} // namespace

std::size_t bank_results(AccessPattern const& pattern)
{
    return static_cast<std::size_t>(warp_lanes * pattern.bytes / 4);
}

void bank_cycles(AccessPattern const& pattern, Access access, std::int32_t const* words,
                 std::span<float const> values, std::span<float> results, long long* cycles,
                 cuda::Stream const& stream)
{
    require_sound(pattern);
    auto const expected = static_cast<std::size_t>(pattern.words());
    if (values.size() < expected || results.size() < bank_results(pattern)) {
        throw std::invalid_argument{"bank_cycles: found " + std::to_string(values.size()) +
                                    " values and room for " + std::to_string(results.size()) +
                                    " results, expected at least " + std::to_string(expected) +
                                    " and " + std::to_string(bank_results(pattern))};
    }
    auto const kernel =
        access == Access::read ? launch_for_words<Access::read> : launch_for_words<Access::write>;
    kernel(pattern, words, values, results, cycles, stream);
}

void distributed_cycles(int blocks, bool remote, std::span<float const> values,
                        std::span<float> results, long long* cycles, cuda::Stream const& stream)
{
    cudaLaunchAttribute shape{};
    shape.id = cudaLaunchAttributeClusterDimension;
    shape.val.clusterDim.x = static_cast<unsigned>(blocks);
    shape.val.clusterDim.y = 1;
    shape.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(1024);
    config.stream = stream.get();
    config.attrs = &shape;
    config.numAttrs = 1;
    cuda::check(cudaFuncSetAttribute(distributed_kernel,
                                     cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    cuda::check(cudaLaunchKernelEx(&config, distributed_kernel, remote, values.data(),
                                   results.data(), cycles));
}

std::string_view refuses_cluster(int blocks)
{
    int device = 0;
    int major = 0;
    cuda::check(cudaGetDevice(&device));
    cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    if (major < 9) {
        return "this GPU has no clusters of blocks";
    }
    return blocks > 16 ? "a cluster has at most 16 blocks" : "";
}

} // namespace dense::gpu
