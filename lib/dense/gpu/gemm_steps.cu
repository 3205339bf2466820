#include "dense/gpu/gemm_steps.hpp"

#include "cuda/device.hpp"
#include "cuda/error.hpp"
#include "dense/gpu/gemm_shaped.hpp"
#include "dense/gpu/tile.cuh"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace dense::gpu {

namespace {

template <class T>
using In = Matrix<T const>;

int sizes_of(std::int64_t size)
{
    return static_cast<int>(size);
}

// --- the article's -------------------------------------------------------------------------------

//! [one_thread_1d]
/// One thread for each element of c, in the order in which they lie in memory.
template <class T>
__global__ void one_thread_1d(T const* a, T const* b, T* c, int rows, int columns, int depth)
{
    std::int64_t const count = std::int64_t{rows} * columns;
    std::int64_t const step = std::int64_t{gridDim.x} * blockDim.x;
    for (std::int64_t e = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; e < count;
         e += step) {
        std::int64_t const i = e / columns;
        std::int64_t const j = e % columns;
        T sum = 0;
        for (int k = 0; k < depth; ++k) {
            sum += a[i * depth + k] * b[std::int64_t{k} * columns + j];
        }
        c[e] = sum;
    }
}
//! [one_thread_1d]

//! [shared_row_1d]
/// A block for each row of c; the row of a lies in shared memory.
template <class T, bool has_barrier = true>
__global__ void shared_row_1d(T const* a, T const* b, T* c, int rows, int columns, int depth)
{
    T* const row = shared_memory<T>();
    for (int i = blockIdx.x; i < rows; i += gridDim.x) {
        for (int k = threadIdx.x; k < depth; k += blockDim.x) {
            row[k] = a[std::int64_t{i} * depth + k];
        }
        __syncthreads();
        for (int j = threadIdx.x; j < columns; j += blockDim.x) {
            T sum = 0;
            for (int k = 0; k < depth; ++k) {
                sum += row[k] * b[std::int64_t{k} * columns + j];
            }
            c[std::int64_t{i} * columns + j] = sum;
        }
        if (has_barrier) {
            __syncthreads(); // nobody overwrites the row while others still read it
        }
    }
}
//! [shared_row_1d]

constexpr int tile = 32;

//! [tile_2d_multiples]
/// A block for each tile of c. Sizes are multiples of the tile's.
template <class T>
__global__ void tile_2d_multiples(T const* a, T const* b, T* c, int columns, int depth)
{
    __shared__ T tile_a[tile][tile];
    __shared__ T tile_b[tile][tile];
    int const i = blockIdx.y * tile + threadIdx.y;
    int const j = blockIdx.x * tile + threadIdx.x;
    T sum = 0;
    for (int k0 = 0; k0 < depth; k0 += tile) {
        tile_a[threadIdx.y][threadIdx.x] = a[std::int64_t{i} * depth + k0 + threadIdx.x];
        tile_b[threadIdx.y][threadIdx.x] = b[std::int64_t{k0 + threadIdx.y} * columns + j];
        __syncthreads();
        for (int k = 0; k < tile; ++k) {
            sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
        }
        __syncthreads();
    }
    c[std::int64_t{i} * columns + j] = sum;
}
//! [tile_2d_multiples]

//! [tile_2d_any]
/// The same for any size: zeros stand in for what lies outside.
template <class T>
__global__ void tile_2d_any(T const* a, T const* b, T* c, int rows, int columns, int depth)
{
    __shared__ T tile_a[tile][tile];
    __shared__ T tile_b[tile][tile];
    int const i = blockIdx.y * tile + threadIdx.y;
    int const j = blockIdx.x * tile + threadIdx.x;
    T sum = 0;
    for (int k0 = 0; k0 < depth; k0 += tile) {
        int const ka = k0 + threadIdx.x;
        int const kb = k0 + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] =
            i < rows && ka < depth ? a[std::int64_t{i} * depth + ka] : T{0};
        tile_b[threadIdx.y][threadIdx.x] =
            kb < depth && j < columns ? b[std::int64_t{kb} * columns + j] : T{0};
        __syncthreads();
        for (int k = 0; k < tile; ++k) {
            sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
        }
        __syncthreads();
    }
    if (i < rows && j < columns) {
        c[std::int64_t{i} * columns + j] = sum;
    }
}
//! [tile_2d_any]

//! [tile_2d_article_guards]
/// As the article has it: the guards join with `||`, and that of b compares a column with the
/// number of the tile along k. So it loads what lies behind the arrays, which may be anything; here
/// it is their beginning again, so that the listing gives wrong numbers and not a fault.
__global__ void tile_2d_article_guards(float const* a, float const* b, float* c, int rows,
                                       int columns, int depth)
{
    __shared__ float tile_a[tile][tile];
    __shared__ float tile_b[tile][tile];
    int const i = blockIdx.y * tile + threadIdx.y;
    int const j = blockIdx.x * tile + threadIdx.x;
    float sum = 0;
    for (int k0 = 0; k0 < depth; k0 += tile) {
        int const ka = k0 + threadIdx.x;
        int const kb = k0 + threadIdx.y;
        std::int64_t const at_a = std::int64_t{i} * depth + ka;
        std::int64_t const at_b = std::int64_t{kb} * columns + j;
        bool const reads_a = i < rows || ka < depth;
        bool const reads_b = kb < depth || k0 + static_cast<int>(threadIdx.x) < columns;
        tile_a[threadIdx.y][threadIdx.x] = reads_a ? a[at_a % (std::int64_t{rows} * depth)] : 0;
        tile_b[threadIdx.y][threadIdx.x] = reads_b ? b[at_b % (std::int64_t{depth} * columns)] : 0;
        __syncthreads();
        for (int k = 0; k < tile; ++k) {
            sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
        }
        __syncthreads();
    }
    if (i < rows && j < columns) {
        c[std::int64_t{i} * columns + j] = sum;
    }
}
//! [tile_2d_article_guards]

template <class T>
void launch_one_thread_1d(In<T> a, In<T> b, Matrix<T> c, cuda::Stream const& stream)
{
    constexpr int threads = 1024;
    auto const blocks = std::min<std::int64_t>(ceil_div(c.rows * c.columns, threads), 1 << 30);
    one_thread_1d<<<static_cast<unsigned>(blocks), threads, 0, stream.get()>>>(
        a.data, b.data, c.data, sizes_of(c.rows), sizes_of(c.columns), sizes_of(a.columns));
    cuda::check_launch();
}

template <class T, bool has_barrier>
void launch_shared_row_1d(In<T> a, In<T> b, Matrix<T> c, cuda::Stream const& stream)
{
    auto const kernel = shared_row_1d<T, has_barrier>;
    // Whole 16 bytes: compilers read the last elements of a row wider than they are.
    auto const bytes = static_cast<std::size_t>(ceil_div(a.columns, 4) * 4) * sizeof(T);
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(bytes)));
    // Fewer blocks than rows where a barrier is missing: only then a row is overwritten.
    auto const blocks = has_barrier ? c.rows : std::max<std::int64_t>(1, c.rows / 4);
    kernel<<<static_cast<unsigned>(blocks), 1024, bytes, stream.get()>>>(
        a.data, b.data, c.data, sizes_of(c.rows), sizes_of(c.columns), sizes_of(a.columns));
    cuda::check_launch();
}

template <class T>
std::string_view refuses_long_rows(In<T> const& a, In<T> const& b, Matrix<T> const& c)
{
    return a.columns * static_cast<std::int64_t>(sizeof(T)) <= 48 * 1024
               ? refuses_gaps(a, b, c)
               : "a row of a does not fit the 48 KiB of shared memory that every GPU has";
}

dim3 grid_of_tiles(std::int64_t rows, std::int64_t columns)
{
    return {static_cast<unsigned>(ceil_div(columns, tile)),
            static_cast<unsigned>(ceil_div(rows, tile))};
}

template <class T>
void launch_tile_2d_multiples(In<T> a, In<T> b, Matrix<T> c, cuda::Stream const& stream)
{
    tile_2d_multiples<<<grid_of_tiles(c.rows, c.columns), dim3(tile, tile), 0, stream.get()>>>(
        a.data, b.data, c.data, sizes_of(c.columns), sizes_of(a.columns));
    cuda::check_launch();
}

template <class T>
std::string_view refuses_no_multiples(In<T> const& a, In<T> const& b, Matrix<T> const& c)
{
    return a.rows % tile == 0 && a.columns % tile == 0 && b.columns % tile == 0
               ? refuses_gaps(a, b, c)
               : "the kernel for multiples of 32 is not made for these sizes";
}

template <class T>
void launch_tile_2d_any(In<T> a, In<T> b, Matrix<T> c, cuda::Stream const& stream)
{
    tile_2d_any<<<grid_of_tiles(c.rows, c.columns), dim3(tile, tile), 0, stream.get()>>>(
        a.data, b.data, c.data, sizes_of(c.rows), sizes_of(c.columns), sizes_of(a.columns));
    cuda::check_launch();
}

void launch_tile_2d_article_guards(In<float> a, In<float> b, Matrix<float> c,
                                   cuda::Stream const& stream)
{
    tile_2d_article_guards<<<grid_of_tiles(c.rows, c.columns), dim3(tile, tile), 0, stream.get()>>>(
        a.data, b.data, c.data, sizes_of(c.rows), sizes_of(c.columns), sizes_of(a.columns));
    cuda::check_launch();
}

} // namespace

//! [by_threads]
/// `one_thread_1d` by so many threads of the whole device.
void multiply_by_threads(Matrix<float const> a, Matrix<float const> b, Matrix<float> c,
                         std::int64_t threads, cuda::Stream const& stream)
{
    constexpr std::int64_t warp = 32;
    auto const block = threads <= warp * cuda::multiprocessors() ? warp : 256;
    if (threads <= 0 || threads % block != 0) {
        throw std::invalid_argument{"threads: found " + std::to_string(threads) +
                                    ", expected a multiple of " + std::to_string(block)};
    }
    one_thread_1d<<<static_cast<unsigned>(threads / block), static_cast<unsigned>(block), 0,
                    stream.get()>>>(a.data, b.data, c.data, sizes_of(c.rows), sizes_of(c.columns),
                                    sizes_of(a.columns));
    cuda::check_launch();
}
//! [by_threads]

template <class T>
std::vector<Step<T>> gemm_steps()
{
    std::vector<Step<T>> steps{
        {"one_thread_1d", launch_one_thread_1d<T>, refuses_gaps<T>},
        {"shared_row_1d", launch_shared_row_1d<T, true>, refuses_long_rows<T>},
        {"tile_2d_multiples", launch_tile_2d_multiples<T>, refuses_no_multiples<T>},
        {"tile_2d_any", launch_tile_2d_any<T>, refuses_gaps<T>},
    };
    for (auto const& more : {register_steps<T>(), thin_steps<T>(), row_steps<T>()}) {
        steps.insert(steps.end(), more.begin(), more.end());
    }
    if constexpr (std::is_same_v<T, double>) {
        for (auto const& step : fp64_steps()) {
            steps.push_back(step);
        }
    }
    if constexpr (std::is_same_v<T, float>) {
        steps.push_back({"shaped_tiles", multiply_by_shaped_tiles, refuses_shaped_tiles});
    }
    return steps;
}

std::vector<Step<float>> wrong_gemm_steps()
{
    return {{"shared_row_without_barrier", launch_shared_row_1d<float, false>,
             refuses_long_rows<float>},
            {"tile_2d_article_guards", launch_tile_2d_article_guards, refuses_gaps<float>}};
}

template std::vector<Step<float>> gemm_steps();
template std::vector<Step<double>> gemm_steps();

} // namespace dense::gpu
