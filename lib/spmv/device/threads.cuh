#pragma once

#include <cstdint>
#include <cstring>

/// \file
/// What kernels of this folder share. For .cu files only.

namespace spmv::gpu {

/// Lanes of a warp.
inline constexpr int warp = 32;

/// A mask of all lanes of a warp.
inline constexpr unsigned all_lanes = 0xffffffffu;

/// Blocks of `size` that hold `count`.
__host__ __device__ constexpr std::int64_t ceil_div(std::int64_t count, std::int64_t size)
{
    return (count + size - 1) / size;
}

/// The number of the calling thread in a one-dimensional grid.
__device__ inline std::int64_t global_thread()
{
    return blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
}

/// Sum over each group of `lanes` neighbouring lanes, a power of two; the first of a group gets it.
/// All lanes of the warp call it.
template <int lanes, class T>
__device__ T sum_of_lanes(T value)
{
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
        value += __shfl_down_sync(all_lanes, value, distance, lanes);
    }
    return value;
}

/// As above for a number of lanes that only the running kernel knows.
template <class T>
__device__ T sum_of_lanes(T value, int lanes)
{
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
        value += __shfl_down_sync(all_lanes, value, distance, lanes);
    }
    return value;
}

/// The largest `value` of the warp, for all of its lanes.
template <class T>
__device__ T largest_of_warp(T value)
{
    for (int distance = warp / 2; distance > 0; distance /= 2) {
        value = max(value, __shfl_xor_sync(all_lanes, value, distance));
    }
    return value;
}

/// The smallest `value` of the warp, for all of its lanes.
template <class T>
__device__ T smallest_of_warp(T value)
{
    for (int distance = warp / 2; distance > 0; distance /= 2) {
        value = min(value, __shfl_xor_sync(all_lanes, value, distance));
    }
    return value;
}

/// Neighbouring elements that are loaded together.
template <class T, int count>
struct alignas(sizeof(T) * count <= 16 ? sizeof(T) * count : 16) Pack
{
    T element[count];
};

/// Loads a pack, which lies on a boundary of its size, at most 16 bytes. If `once`, no one reads it
/// again: it leaves the caches first, so that `x` stays.
template <bool once, int count, class T>
__device__ Pack<T, count> load_pack(T const* from)
{
    constexpr int bytes = sizeof(Pack<T, count>);
    auto const load = [](auto const* words) { return once ? __ldcs(words) : __ldg(words); };
    Pack<T, count> pack;
    if constexpr (bytes == 32) {
        auto const* both = reinterpret_cast<int4 const*>(from);
        int4 const words[] = {load(both), load(both + 1)};
        memcpy(&pack, words, bytes);
    } else if constexpr (bytes == 16) {
        int4 const words = load(reinterpret_cast<int4 const*>(from));
        memcpy(&pack, &words, bytes);
    } else if constexpr (bytes == 8) {
        int2 const words = load(reinterpret_cast<int2 const*>(from));
        memcpy(&pack, &words, bytes);
    } else if constexpr (bytes == 4) {
        int const word = load(reinterpret_cast<int const*>(from));
        memcpy(&pack, &word, bytes);
    } else if constexpr (bytes == 2) {
        short const word = load(reinterpret_cast<short const*>(from));
        memcpy(&pack, &word, bytes);
    } else {
        static_assert(bytes == 1);
        signed char const word = load(reinterpret_cast<signed char const*>(from));
        memcpy(&pack, &word, bytes);
    }
    return pack;
}

/// Loads a pack that no one reads again.
template <int count, class T>
__device__ Pack<T, count> load_once(T const* from)
{
    return load_pack<true, count>(from);
}

/// First `i` in 0 .. `count` for which `reached(i)` holds, which stays true once it is.
template <class Reached>
__device__ std::int32_t first_where(std::int32_t count, Reached const& reached)
{
    std::int32_t begin = 0;
    while (begin < count) {
        std::int32_t const middle = begin + (count - begin) / 2;
        if (reached(middle)) {
            count = middle;
        } else {
            begin = middle + 1;
        }
    }
    return begin;
}

} // namespace spmv::gpu
