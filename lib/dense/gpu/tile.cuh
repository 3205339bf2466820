#pragma once

#include "cuda/error.hpp"
#include "dense/gpu/gemm_steps.hpp"

#include <cuda_pipeline_primitives.h>
#include <cuda_runtime_api.h>

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

/// Copies a pack from memory to shared memory without a register; a plain store where it is not
/// whole or not aligned. Nothing is asked where all packs of a matrix are `whole`. To be committed
/// and waited for as asynchronous copies are.
template <bool whole = false, class T>
__device__ void copy_pack(Pack<T>* to, T const* from, int rows, int columns, int i, int j,
                          bool is_aligned)
{
    if (whole || (is_aligned && i < rows && j + Pack<T>::size <= columns)) {
        __pipeline_memcpy_async(to, from + std::int64_t{i} * columns + j, sizeof(Pack<T>));
    } else {
        *to = load_pack(from, rows, columns, i, j, false);
    }
}

/// Row and column of a tile of c.
struct Place
{
    int i, j;
};

/// The tile of a block, where blocks that run at the same time make a patch eight tiles high: they
/// read the same parts of a and b, which the second-level cache then holds.
__device__ inline Place place_in_patch(int block, int tiles_down, int tiles_across)
{
    constexpr int height = 8;
    int const first = block / (height * tiles_across) * height;
    int const here = min(tiles_down - first, height);
    int const within = block % (height * tiles_across);
    return {first + within % here, within / here};
}

/// Whether rows of so many elements all begin at multiples of 16 bytes.
template <class T>
bool has_aligned_rows(T const* data, std::int64_t columns)
{
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && columns % Pack<T>::size == 0;
}

/// `why` on GPUs before such a compute capability, else nothing.
inline std::string_view refusal_before(int needed, std::string_view why)
{
    int device = 0;
    int major = 0;
    cuda::check(cudaGetDevice(&device));
    cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    return major >= needed ? "" : why;
}

/// Steps that keep a tile of c in the registers of each thread.
template <class T>
std::vector<Step<T>> register_steps();

/// Steps for products with few elements in c, which leave most of a GPU idle else.
template <class T>
std::vector<Step<T>> thin_steps();

/// Steps that load the tensor cores' operands by hand: TF32, and three products of it.
std::vector<Step<float>> fragment_steps();

} // namespace dense::gpu
