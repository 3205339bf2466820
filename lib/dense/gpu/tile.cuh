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

/// A matrix as kernels see it: sizes of 32 bits, and what is known of its rows.
template <class T>
struct View
{
    T* data;
    int rows, columns;
    std::int64_t stride;
    bool is_aligned; ///< whether all rows begin at multiples of 16 bytes
};

/// Elements (i, j) and those after it in the row, zeros where it has none. One load where all of
/// them are there and aligned.
template <class T>
__device__ Pack<T> load_pack(View<T const> const& from, int i, int j)
{
    T const* const at = from.data + i * from.stride + j;
    if (from.is_aligned && i < from.rows && j + Pack<T>::size <= from.columns) {
        return *reinterpret_cast<Pack<T> const*>(at);
    }
    Pack<T> pack = {};
#pragma unroll
    for (int e = 0; e < Pack<T>::size; ++e) {
        if (i < from.rows && j + e < from.columns) {
            pack.value[e] = at[e];
        }
    }
    return pack;
}

/// As above of a matrix without gaps.
template <class T>
__device__ Pack<T> load_pack(T const* from, int rows, int columns, int i, int j, bool is_aligned)
{
    return load_pack(View<T const>{from, rows, columns, columns, is_aligned}, i, j);
}

/// Copies a pack from memory to shared memory without a register; a plain store where it is not
/// whole or not aligned. Nothing is asked where all packs of a matrix are `whole`. To be committed
/// and waited for as asynchronous copies are.
template <bool whole = false, class T>
__device__ void copy_pack(Pack<T>* to, View<T const> const& from, int i, int j)
{
    if (whole || (from.is_aligned && i < from.rows && j + Pack<T>::size <= from.columns)) {
        __pipeline_memcpy_async(to, from.data + i * from.stride + j, sizeof(Pack<T>));
    } else {
        *to = load_pack(from, i, j);
    }
}

/// Where the pack `pack` of row `row` lies in a tile of `packs` packs a row: exclusive or spreads
/// the packs of one column over the banks, which eight packs fill. Rows that lie a multiple of
/// eight apart are alike.
template <int packs>
__device__ constexpr int swizzled(int row, int pack)
{
    return row * packs + (pack ^ (row % (packs < 8 ? packs : 8)));
}

/// Row and column of a tile of c.
struct Place
{
    int i, j;
};

/// The tile of a block, where blocks that run at the same time make a patch so many tiles high:
/// they read the same parts of a and b, which the second-level cache then holds.
__device__ inline Place place_in_patch(int block, int tiles_down, int tiles_across, int height = 8)
{
    int const first = block / (height * tiles_across) * height;
    int const here = min(tiles_down - first, height);
    int const within = block % (height * tiles_across);
    return {first + within % here, within / here};
}

/// Whether rows that are so many elements apart all begin at multiples of 16 bytes.
template <class T>
bool has_aligned_rows(T const* data, std::int64_t stride)
{
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && stride % Pack<T>::size == 0;
}

/// What kernels see of a matrix with less than 2^31 rows and columns.
template <class T>
View<T> view_of(Matrix<T> const& m)
{
    return {m.data, static_cast<int>(m.rows), static_cast<int>(m.columns), m.stride,
            has_aligned_rows(m.data, m.stride)};
}

/// Whether such operands and their product have whole tiles of these sizes, all of whose packs are
/// aligned.
template <class T>
bool has_whole_tiles(Matrix<T const> const& a, Matrix<T const> const& b, int rows, int columns,
                     int depth)
{
    return has_aligned_rows(a.data, a.stride) && has_aligned_rows(b.data, b.stride) &&
           a.rows % rows == 0 && b.columns % columns == 0 && a.columns % depth == 0;
}

/// Of steps for matrices without gaps: why they are not made for others.
template <class T>
std::string_view refuses_gaps(Matrix<T const> const& a, Matrix<T const> const& b,
                              Matrix<T> const& c)
{
    bool const has_gap = a.stride != a.columns || b.stride != b.columns || c.stride != c.columns;
    return has_gap ? "it takes no gaps between rows" : "";
}

/// `why` on GPUs before such a compute capability, ten times it: 75, 80, 90; else nothing.
inline std::string_view refusal_before(int needed, std::string_view why)
{
    int device = 0;
    int major = 0;
    int minor = 0;
    cuda::check(cudaGetDevice(&device));
    cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    cuda::check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    return 10 * major + minor >= needed ? "" : why;
}

/// Steps that keep a tile of c in the registers of each thread.
template <class T>
std::vector<Step<T>> register_steps();

/// Steps for products with few elements in c, which leave most of a GPU idle else.
template <class T>
std::vector<Step<T>> thin_steps();

/// Steps for few rows, on GPUs that have clusters.
template <class T>
std::vector<Step<T>> row_steps();

/// Steps that load the tensor cores' operands by hand: TF32, and three products of it.
std::vector<Step<float>> fragment_steps();

/// Steps for Hopper's tensor cores: TF32, and three products of it.
std::vector<Step<float>> wgmma_steps();

/// The step that multiplies doubles on tensor cores.
std::vector<Step<double>> fp64_steps();

} // namespace dense::gpu
