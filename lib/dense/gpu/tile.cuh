#pragma once

#include "dense/gpu/gemm_steps.hpp"

#include <cstdint>

/// \file
/// What kernels of this folder share. For .cu files only.

namespace dense::gpu {

__host__ __device__ constexpr std::int64_t ceil_div(std::int64_t count, std::int64_t size)
{
    return (count + size - 1) / size;
}

/// Shared memory whose size the launch tells: one declaration for all types, as two templates may
/// not declare one name with two types.
template <class T>
__device__ T* shared_memory()
{
    extern __shared__ __align__(16) unsigned char memory[];
    return reinterpret_cast<T*>(memory);
}

/// 16 bytes of elements.
template <class T>
struct alignas(16) Pack
{
    static constexpr int size = 16 / sizeof(T);
    T value[size];
};

/// Elements (i, j) and those after it in the row of a matrix without gaps, zeros where it has none.
/// One load where all of them are there and aligned.
template <class T>
__device__ Pack<T> load_pack(T const* from, int rows, int columns, int i, int j, bool is_aligned)
{
    std::int64_t const at = std::int64_t{i} * columns + j;
    if (is_aligned && i < rows && j + Pack<T>::size <= columns) {
        return *reinterpret_cast<Pack<T> const*>(from + at);
    }
    Pack<T> pack = {};
#pragma unroll
    for (int e = 0; e < Pack<T>::size; ++e) {
        if (i < rows && j + e < columns) {
            pack.value[e] = from[at + e];
        }
    }
    return pack;
}

/// Whether rows of so many elements all begin at multiples of 16 bytes.
template <class T>
bool has_aligned_rows(T const* data, std::int64_t columns)
{
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && columns % Pack<T>::size == 0;
}

/// Steps that keep a tile of c in the registers of each thread.
template <class T>
std::vector<Step<T>> register_steps();

} // namespace dense::gpu
