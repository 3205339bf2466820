#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

/// \file
/// What the blocks of a cluster do together: GPUs of compute capability 9.0 and later have them.
/// Behind "PTX" stands the section of NVIDIA's PTX ISA that explains an instruction.

namespace dense::gpu {

/// The number of this block in its cluster. PTX: %cluster_ctarank.
__device__ inline int block_rank()
{
    std::uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return static_cast<int>(rank);
}

/// Waits for all threads of the cluster. PTX: barrier.cluster.
__device__ inline void sync_cluster()
{
    asm volatile("barrier.cluster.arrive.release;\n"
                 "barrier.cluster.wait.acquire;" ::
                     : "memory");
}

/// The same place in the shared memory of another block of the cluster. PTX: mapa.
template <class T>
__device__ T const* at_block(int rank, T const* own)
{
    T const* there;
    asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(own), "r"(rank));
    return there;
}

__device__ inline void add(float& to, float what)
{
    to += what;
}

__device__ inline void add(double& to, double what)
{
    to += what;
}

__device__ inline void add(double2& to, double2 const& what)
{
    to.x += what.x;
    to.y += what.y;
}

__device__ inline void add(float4& to, float4 const& what)
{
    to.x += what.x;
    to.y += what.y;
    to.z += what.z;
    to.w += what.w;
}

/// Adds up what each of so many blocks of a cluster, from `base` on, keeps where this one, number
/// `rank` of them, has `at(n)`, for all n below `count`, and gives it to `store(n, total)`; nothing
/// where `at(n)` is null, as it may be asked for a few more. What another block keeps takes long to
/// come, so a thread asks for sixteen parts before it adds: of few places, of which it has `most`
/// in a cluster of two, those of more blocks. Each begins with its own block, so that they do not
/// all ask the same one; whoever adds always does so in the same order.
template <int most, class T, class At, class Store>
__device__ void add_up_cluster(int base, int rank, int blocks, int count, At at, Store store)
{
    constexpr int places = most < 8 ? 2 : 4, together = 16 / places;
    for (int begin = 0; begin < count; begin += places) {
        T total[places]{};
        for (int first = rank; first < rank + blocks; first += together) {
            T part[together][places]{};
#pragma unroll
            for (int q = 0; q < together; ++q) {
                int const block = first + q < blocks ? first + q : first + q - blocks;
#pragma unroll
                for (int n = 0; n < places; ++n) {
                    T const* const own = at(begin + n);
                    if (own && first + q < rank + blocks) {
                        part[q][n] = *at_block(base + block, own);
                    }
                }
            }
#pragma unroll
            for (int q = 0; q < together; ++q) {
#pragma unroll
                for (int n = 0; n < places; ++n) {
                    add(total[n], part[q][n]);
                }
            }
        }
#pragma unroll
        for (int n = 0; n < places; ++n) {
            if (at(begin + n)) {
                store(begin + n, total[n]);
            }
        }
    }
}

} // namespace dense::gpu
