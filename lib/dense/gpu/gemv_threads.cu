#include "cuda/error.hpp"
#include "dense/gpu/gemv_formats.cuh"

#include <array>
#include <type_traits>
#include <utility>

namespace dense::gpu {

namespace {

using X = View<base::bf16 const>;

constexpr int threads = 256;
constexpr int warps = threads / 32;

//! [naive]
/// A thread makes a result. Neighbours read rows that lie far apart.
template <class E>
__global__ void __launch_bounds__(threads) naive(RowWeights<E> w, X x, GemvResult y)
{
    int const row = blockIdx.x * threads + threadIdx.x;
    int const vector = blockIdx.y;
    if (row < w.elements.rows) {
        float sum = 0;
        for (int k = 0; k < w.elements.columns; ++k) {
            sum += as_float(w.elements.data[row * w.elements.stride + k]) *
                   as_float(x.data[vector * x.stride + k]);
        }
        write(y, vector, row, w.scale(row) * sum);
    }
}
//! [naive]

//! [warp_rows]
/// A warp makes a result. Its lanes read elements that lie together.
template <class E>
__global__ void __launch_bounds__(threads) warp_rows(RowWeights<E> w, X x, GemvResult y)
{
    int const row = blockIdx.x * warps + threadIdx.x / 32;
    int const vector = blockIdx.y;
    if (row < w.elements.rows) {
        float sum = 0;
        for (int k = threadIdx.x % 32; k < w.elements.columns; k += 32) {
            sum += as_float(w.elements.data[row * w.elements.stride + k]) *
                   as_float(x.data[vector * x.stride + k]);
        }
        sum = sum_of_warp(sum);
        if (threadIdx.x % 32 == 0) {
            write(y, vector, row, w.scale(row) * sum);
        }
    }
}
//! [warp_rows]

constexpr int packs_ahead = 4; ///< of a thread, on their way

//! [wide_loads]
/// As before by packs of 16 bytes, four of which are under way.
template <class E>
__global__ void __launch_bounds__(threads) wide_loads(RowWeights<E> w, X x, GemvResult y)
{
    constexpr int wide = Pack<E>::size;
    constexpr int step = 32 * wide;
    int const row = blockIdx.x * warps + threadIdx.x / 32;
    int const vector = blockIdx.y;
    if (row < w.elements.rows) {
        E const* const from = w.elements.data + row * w.elements.stride;
        base::bf16 const* const of_x = x.data + vector * x.stride;
        float sum = 0;
        int k = threadIdx.x % 32 * wide;
        for (; k + (packs_ahead - 1) * step < w.elements.columns; k += packs_ahead * step) {
            Pack<E> pack[packs_ahead];
#pragma unroll
            for (int i = 0; i < packs_ahead; ++i) {
                pack[i] = *reinterpret_cast<Pack<E> const*>(from + k + i * step);
            }
#pragma unroll
            for (int i = 0; i < packs_ahead; ++i) {
                sum += product(pack[i], of_x + k + i * step);
            }
        }
        for (; k < w.elements.columns; k += step) {
            sum += product(*reinterpret_cast<Pack<E> const*>(from + k), of_x + k);
        }
        sum = sum_of_warp(sum);
        if (threadIdx.x % 32 == 0) {
            write(y, vector, row, w.scale(row) * sum);
        }
    }
}
//! [wide_loads]

constexpr int rows_of_block = 4;

//! [split_rows]
/// A block makes four rows of results for some vectors: each of its threads reads packs of all four
/// rows, and what it has unpacked of a vector serves four times.
template <class E, int vectors>
__global__ void __launch_bounds__(threads) split_rows(RowWeights<E> w, X x, GemvResult y)
{
    constexpr int wide = Pack<E>::size;
    __shared__ float part[warps][rows_of_block][vectors];
    int const first = blockIdx.x * rows_of_block;
    int const last_row = w.elements.rows - 1;
    float sum[rows_of_block][vectors] = {};
    for (int k = threadIdx.x * wide; k < w.elements.columns; k += threads * wide) {
        float of_w[rows_of_block][wide];
#pragma unroll
        for (int r = 0; r < rows_of_block; ++r) { // the last row again where there is none
            unpack(
                load_pack_once(w.elements.data + min(first + r, last_row) * w.elements.stride + k),
                of_w[r]);
        }
#pragma unroll
        for (int v = 0; v < vectors; ++v) {
            auto const* const from = x.data + (blockIdx.y * vectors + v) * x.stride + k;
#pragma unroll
            for (int at = 0; at < wide; at += 8) {
                float of_x[8];
                unpack(*reinterpret_cast<Pack<base::bf16> const*>(from + at), of_x);
#pragma unroll
                for (int r = 0; r < rows_of_block; ++r) {
#pragma unroll
                    for (int i = 0; i < 8; ++i) {
                        sum[r][v] += of_w[r][at + i] * of_x[i];
                    }
                }
            }
        }
    }
#pragma unroll
    for (int r = 0; r < rows_of_block; ++r) {
#pragma unroll
        for (int v = 0; v < vectors; ++v) {
            sum[r][v] = sum_of_warp(sum[r][v]);
            if (threadIdx.x % 32 == 0) {
                part[threadIdx.x / 32][r][v] = sum[r][v];
            }
        }
    }
    __syncthreads();
    int const r = threadIdx.x / vectors;
    int const v = threadIdx.x % vectors;
    if (r < rows_of_block && first + r <= last_row) {
        float total = 0;
        for (int warp = 0; warp < warps; ++warp) {
            total += part[warp][r][v];
        }
        write(y, blockIdx.y * vectors + v, first + r, w.scale(first + r) * total);
    }
}
//! [split_rows]

/// Blocks that have so many rows each, and once more for every so many vectors.
template <class W>
dim3 grid_of(W const& w, Matrix<base::bf16 const> const& x, int rows, int vectors)
{
    return {static_cast<unsigned>(ceil_div(rows_in(w), rows)),
            static_cast<unsigned>(ceil_div(x.rows, vectors))};
}

template <class W>
void launch_naive(W const& w, Matrix<base::bf16 const> x, GemvResult y, cuda::Stream const& stream)
{
    naive<<<grid_of(w, x, threads, 1), threads, 0, stream.get()>>>(rows_of(w), view_of(x), y);
    cuda::check_launch();
}

template <class W>
void launch_warp_rows(W const& w, Matrix<base::bf16 const> x, GemvResult y,
                      cuda::Stream const& stream)
{
    warp_rows<<<grid_of(w, x, warps, 1), threads, 0, stream.get()>>>(rows_of(w), view_of(x), y);
    cuda::check_launch();
}

template <class W>
void launch_wide_loads(W const& w, Matrix<base::bf16 const> x, GemvResult y,
                       cuda::Stream const& stream)
{
    wide_loads<<<grid_of(w, x, warps, 1), threads, 0, stream.get()>>>(rows_of(w), view_of(x), y);
    cuda::check_launch();
}

template <class W, int vectors>
void launch_split(W const& w, Matrix<base::bf16 const> x, GemvResult y, cuda::Stream const& stream)
{
    split_rows<ElementOf<W>, vectors>
        <<<grid_of(w, x, rows_of_block, vectors), threads, 0, stream.get()>>>(rows_of(w),
                                                                              view_of(x), y);
    cuda::check_launch();
}

template <class W>
void launch_columns(W const& w, Matrix<base::bf16 const> x, GemvResult y,
                    cuda::Stream const& stream)
{
    static constexpr auto launches = []<int... i>(std::integer_sequence<int, i...>)
    {
        return std::array{&launch_split<W, i + 1>...};
    }
    (std::make_integer_sequence<int, static_cast<int>(most_vectors)>{});
    launches[static_cast<std::size_t>(x.rows - 1)](w, x, y, stream);
}

template <class W>
std::string_view refuses_nothing(W const&, Matrix<base::bf16 const> const&)
{
    return "";
}

} // namespace

template <class W>
std::vector<GemvStep<W>> gemv_thread_steps()
{
    return {{"naive", launch_naive<W>, refuses_nothing<W>},
            {"warp_rows", launch_warp_rows<W>, refuses_nothing<W>},
            {"wide_loads", launch_wide_loads<W>, refuses_parts<W>},
            {"split_rows", launch_split<W, 1>, refuses_parts<W>},
            {"columns", launch_columns<W>, refuses_parts<W>}};
}

template std::vector<GemvStep<Matrix<base::bf16 const>>> gemv_thread_steps();
template std::vector<GemvStep<Fp8Weights>> gemv_thread_steps();

} // namespace dense::gpu
