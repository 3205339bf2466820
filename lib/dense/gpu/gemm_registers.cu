#include "dense/gpu/tile.cuh"

#include "cuda/error.hpp"
#include "dense/gpu/elementwise.hpp"

#include <algorithm>
#include <type_traits>

namespace dense::gpu {

namespace {

template <class T>
using In = Matrix<T const>;

/// Sizes of tiles: of a block (`rows` x `columns` of c, `depth` of the sum at a time) and of a
/// thread. 256 threads in a square of 16 x 16.
template <class T>
struct Shape
{
    static constexpr int side = 16;
    static constexpr int threads = side * side;
    static constexpr int of_thread = std::is_same_v<T, float> ? 8 : 4;
    static constexpr int rows = side * of_thread;
    static constexpr int columns = side * of_thread;
    static constexpr int depth = 16;
};

struct Sizes
{
    int rows, columns, depth;
};

//! [register_tiles]
/// Each thread keeps a square of c in registers: an element of shared memory that it loads is used
/// as often as the square is wide.
template <class T>
__global__ void __launch_bounds__(Shape<T>::threads)
    register_tiles(T const* a, T const* b, T* c, Sizes sizes)
{
    using S = Shape<T>;
    constexpr int side = S::of_thread;
    __shared__ T tile_a[S::rows][S::depth];
    __shared__ T tile_b[S::depth][S::columns];
    int const i0 = blockIdx.y * S::rows;
    int const j0 = blockIdx.x * S::columns;
    int const ty = threadIdx.x / S::side;
    int const tx = threadIdx.x % S::side;
    T sum[side][side] = {};
    for (int k0 = 0; k0 < sizes.depth; k0 += S::depth) {
        for (int e = threadIdx.x; e < S::rows * S::depth; e += S::threads) {
            int const i = i0 + e / S::depth;
            int const k = k0 + e % S::depth;
            tile_a[e / S::depth][e % S::depth] =
                i < sizes.rows && k < sizes.depth ? a[std::int64_t{i} * sizes.depth + k] : T{0};
        }
        for (int e = threadIdx.x; e < S::depth * S::columns; e += S::threads) {
            int const k = k0 + e / S::columns;
            int const j = j0 + e % S::columns;
            tile_b[e / S::columns][e % S::columns] = k < sizes.depth && j < sizes.columns
                                                         ? b[std::int64_t{k} * sizes.columns + j]
                                                         : T{0};
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < S::depth; ++k) {
            T of_a[side], of_b[side];
#pragma unroll
            for (int r = 0; r < side; ++r) {
                of_a[r] = tile_a[ty * side + r][k];
                of_b[r] = tile_b[k][tx * side + r];
            }
#pragma unroll
            for (int r = 0; r < side; ++r) {
#pragma unroll
                for (int s = 0; s < side; ++s) {
                    sum[r][s] += of_a[r] * of_b[s];
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < side; ++r) {
#pragma unroll
        for (int s = 0; s < side; ++s) {
            int const i = i0 + ty * side + r;
            int const j = j0 + tx * side + s;
            if (i < sizes.rows && j < sizes.columns) {
                c[std::int64_t{i} * sizes.columns + j] = sum[r][s];
            }
        }
    }
}
//! [register_tiles]

//! [vector_loads]
/// Loads of 16 bytes from memory, and from shared memory, where a now lies transposed.
template <class T>
__global__ void __launch_bounds__(Shape<T>::threads)
    vector_loads(T const* a, T const* b, T* c, Sizes sizes, bool aligned_a, bool aligned_b)
{
    using S = Shape<T>;
    constexpr int side = S::of_thread;
    constexpr int wide = Pack<T>::size;
    __shared__ __align__(16) T tile_a[S::depth][S::rows];
    __shared__ __align__(16) T tile_b[S::depth][S::columns];
    int const i0 = blockIdx.y * S::rows;
    int const j0 = blockIdx.x * S::columns;
    int const ty = threadIdx.x / S::side;
    int const tx = threadIdx.x % S::side;
    T sum[side][side] = {};
    for (int k0 = 0; k0 < sizes.depth; k0 += S::depth) {
        for (int e = threadIdx.x; e < S::rows * S::depth / wide; e += S::threads) {
            int const i = e / (S::depth / wide);
            int const k = e % (S::depth / wide) * wide;
            auto const pack = load_pack(a, sizes.rows, sizes.depth, i0 + i, k0 + k, aligned_a);
#pragma unroll
            for (int n = 0; n < wide; ++n) {
                tile_a[k + n][i] = pack.value[n];
            }
        }
        for (int e = threadIdx.x; e < S::depth * S::columns / wide; e += S::threads) {
            int const k = e / (S::columns / wide);
            int const j = e % (S::columns / wide) * wide;
            *reinterpret_cast<Pack<T>*>(&tile_b[k][j]) =
                load_pack(b, sizes.depth, sizes.columns, k0 + k, j0 + j, aligned_b);
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < S::depth; ++k) {
            Pack<T> of_a[side / wide], of_b[side / wide];
#pragma unroll
            for (int r = 0; r < side / wide; ++r) {
                of_a[r] = *reinterpret_cast<Pack<T> const*>(&tile_a[k][ty * side + r * wide]);
                of_b[r] = *reinterpret_cast<Pack<T> const*>(&tile_b[k][tx * side + r * wide]);
            }
#pragma unroll
            for (int r = 0; r < side; ++r) {
#pragma unroll
                for (int s = 0; s < side; ++s) {
                    sum[r][s] += of_a[r / wide].value[r % wide] * of_b[s / wide].value[s % wide];
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < side; ++r) {
#pragma unroll
        for (int s = 0; s < side; ++s) {
            int const i = i0 + ty * side + r;
            int const j = j0 + tx * side + s;
            if (i < sizes.rows && j < sizes.columns) {
                c[std::int64_t{i} * sizes.columns + j] = sum[r][s];
            }
        }
    }
}
//! [vector_loads]

//! [swizzled_tiles]
/// A warp reads parts of rows that lie 16 bytes apart, and what it writes transposed goes to places
/// that exclusive or spreads over the banks.
template <class T>
__global__ void __launch_bounds__(Shape<T>::threads)
    swizzled_tiles(T const* a, T const* b, T* c, Sizes sizes, bool aligned_a, bool aligned_b)
{
    using S = Shape<T>;
    constexpr int side = S::of_thread;
    constexpr int wide = Pack<T>::size;
    constexpr int packs_a = S::depth / wide;
    constexpr int packs_b = S::columns / wide;
    __shared__ Pack<T> tile_a[S::rows * packs_a]; // not transposed: packs run along k
    __shared__ Pack<T> tile_b[S::depth * packs_b];
    int const i0 = blockIdx.y * S::rows;
    int const j0 = blockIdx.x * S::columns;
    int const ty = threadIdx.x / S::side;
    int const tx = threadIdx.x % S::side;
    T sum[side][side] = {};
    for (int k0 = 0; k0 < sizes.depth; k0 += S::depth) {
        for (int e = threadIdx.x; e < S::rows * packs_a; e += S::threads) {
            int const i = e / packs_a;
            int const pack = e % packs_a;
            tile_a[swizzled<packs_a>(i, pack)] =
                load_pack(a, sizes.rows, sizes.depth, i0 + i, k0 + pack * wide, aligned_a);
        }
        for (int e = threadIdx.x; e < S::depth * packs_b; e += S::threads) {
            int const k = e / packs_b;
            int const pack = e % packs_b;
            tile_b[k * packs_b + pack] =
                load_pack(b, sizes.depth, sizes.columns, k0 + k, j0 + pack * wide, aligned_b);
        }
        __syncthreads();
#pragma unroll
        for (int pack = 0; pack < packs_a; ++pack) {
            Pack<T> of_a[side];
#pragma unroll
            for (int r = 0; r < side; ++r) {
                of_a[r] = tile_a[swizzled<packs_a>(r * S::side + ty, pack)];
            }
#pragma unroll
            for (int n = 0; n < wide; ++n) {
                Pack<T> of_b[side / wide];
#pragma unroll
                for (int s = 0; s < side / wide; ++s) {
                    of_b[s] = tile_b[(pack * wide + n) * packs_b + s * S::side + tx];
                }
#pragma unroll
                for (int r = 0; r < side; ++r) {
#pragma unroll
                    for (int s = 0; s < side; ++s) {
                        sum[r][s] += of_a[r].value[n] * of_b[s / wide].value[s % wide];
                    }
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < side; ++r) {
#pragma unroll
        for (int s = 0; s < side; ++s) {
            int const i = i0 + r * S::side + ty;
            int const j = j0 + (s / wide * S::side + tx) * wide + s % wide;
            if (i < sizes.rows && j < sizes.columns) {
                c[std::int64_t{i} * sizes.columns + j] = sum[r][s];
            }
        }
    }
}
//! [swizzled_tiles]

//! [async_copies]
/// While one pair of tiles is multiplied, the next two are on their way. c is computed in parts of
/// the sum where gridDim.z is more than 1, which then are added up in memory.
template <class T, bool splits>
__global__ void __launch_bounds__(Shape<T>::threads, 2)
    async_copies(View<T const> a, View<T const> b, View<T> c, int share)
{
    using S = Shape<T>;
    constexpr int side = S::of_thread;
    constexpr int wide = Pack<T>::size;
    constexpr int stages = 3;
    constexpr int packs_a = S::depth / wide;
    constexpr int packs_b = S::columns / wide;
    Pack<T>* const tiles_a = shared_memory<Pack<T>>();
    Pack<T>* const tiles_b = tiles_a + stages * S::rows * packs_a;
    int const i0 = blockIdx.y * S::rows;
    int const j0 = blockIdx.x * S::columns;
    int const ty = threadIdx.x / S::side;
    int const tx = threadIdx.x % S::side;
    int const first = splits ? static_cast<int>(blockIdx.z) * share : 0;
    int const last = splits ? min(first + share, a.columns) : a.columns;
    auto const fetch = [&](int stage, int k0) {
        if (k0 < last) {
            for (int e = threadIdx.x; e < S::rows * packs_a; e += S::threads) {
                int const i = e / packs_a;
                int const pack = e % packs_a;
                copy_pack(&tiles_a[stage * S::rows * packs_a + swizzled<packs_a>(i, pack)], a,
                          i0 + i, k0 + pack * wide);
            }
            for (int e = threadIdx.x; e < S::depth * packs_b; e += S::threads) {
                int const k = e / packs_b;
                int const pack = e % packs_b;
                copy_pack(&tiles_b[(stage * S::depth + k) * packs_b + pack], b, k0 + k,
                          j0 + pack * wide);
            }
        }
        __pipeline_commit();
    };
    T sum[side][side] = {};
#pragma unroll
    for (int stage = 0; stage < stages - 1; ++stage) {
        fetch(stage, first + stage * S::depth);
    }
    int stage = 0;
    for (int k0 = first; k0 < last; k0 += S::depth) {
        __pipeline_wait_prior(stages - 2);
        __syncthreads();
        fetch((stage + stages - 1) % stages, k0 + (stages - 1) * S::depth);
        Pack<T> const* const tile_a = tiles_a + stage * S::rows * packs_a;
        Pack<T> const* const tile_b = tiles_b + stage * S::depth * packs_b;
#pragma unroll
        for (int pack = 0; pack < packs_a; ++pack) {
            Pack<T> of_a[side];
#pragma unroll
            for (int r = 0; r < side; ++r) {
                of_a[r] = tile_a[swizzled<packs_a>(r * S::side + ty, pack)];
            }
#pragma unroll
            for (int n = 0; n < wide; ++n) {
                Pack<T> of_b[side / wide];
#pragma unroll
                for (int s = 0; s < side / wide; ++s) {
                    of_b[s] = tile_b[(pack * wide + n) * packs_b + s * S::side + tx];
                }
#pragma unroll
                for (int r = 0; r < side; ++r) {
#pragma unroll
                    for (int s = 0; s < side; ++s) {
                        sum[r][s] += of_a[r].value[n] * of_b[s / wide].value[s % wide];
                    }
                }
            }
        }
        stage = (stage + 1) % stages;
    }
#pragma unroll
    for (int r = 0; r < side; ++r) {
#pragma unroll
        for (int s = 0; s < side; ++s) {
            int const i = i0 + r * S::side + ty;
            int const j = j0 + (s / wide * S::side + tx) * wide + s % wide;
            if (i < c.rows && j < c.columns) {
                T* const to = c.data + i * c.stride + j;
                if (splits) {
                    atomicAdd(to, sum[r][s]);
                } else {
                    *to = sum[r][s];
                }
            }
        }
    }
}
//! [async_copies]

/// How `warp_tiles` lays its tiles: rows of a one pack farther apart than they are long, so that
/// the four rows that a warp reads at a time lie in different banks.
template <class T>
struct WarpLayout
{
    static constexpr int stages = 3;
    static constexpr int packs_a = Shape<T>::depth / Pack<T>::size;
    static constexpr int packs_b = Shape<T>::columns / Pack<T>::size;
    static constexpr int stride_a = packs_a + 1;
    static constexpr int tile_a = Shape<T>::rows * stride_a;
    static constexpr int tile_b = Shape<T>::depth * packs_b;
    static constexpr int bytes = 16 * stages * (tile_a + tile_b);
};

//! [warp_tiles]
/// A warp makes a tile that is nearly square: its lanes stand four by eight, so that one read of
/// shared memory serves more of them. The next pack of b is read while the last one is multiplied.
/// Blocks that run together make a patch of c. Where tiles are `whole`, nothing asks for edges.
template <class T, bool whole>
__global__ void __launch_bounds__(Shape<T>::threads, 2)
    warp_tiles(View<T const> a, View<T const> b, View<T> c, int tiles_down, int tiles_across)
{
    using S = Shape<T>;
    using L = WarpLayout<T>;
    constexpr int side = S::of_thread;
    constexpr int wide = Pack<T>::size;
    Pack<T>* const tiles_a = shared_memory<Pack<T>>();
    Pack<T>* const tiles_b = tiles_a + L::stages * L::tile_a;
    Place const place = place_in_patch(blockIdx.x, tiles_down, tiles_across);
    int const i0 = place.i * S::rows;
    int const j0 = place.j * S::columns;
    // What this thread copies: every so manyth row of both tiles.
    int const row_a = threadIdx.x / L::packs_a, pack_a = threadIdx.x % L::packs_a;
    int const row_b = threadIdx.x / L::packs_b, pack_b = threadIdx.x % L::packs_b;
    int const depth = a.columns;
    T const* from_a = a.data + (i0 + row_a) * a.stride + pack_a * wide;
    T const* from_b = b.data + row_b * b.stride + j0 + pack_b * wide;
    auto const fetch = [&](int stage, int k0) {
        if (k0 < depth) {
            Pack<T>* const to_a = tiles_a + stage * L::tile_a + row_a * L::stride_a + pack_a;
            Pack<T>* const to_b = tiles_b + stage * L::tile_b + row_b * L::packs_b + pack_b;
#pragma unroll
            for (int i = 0; i < S::rows; i += S::threads / L::packs_a) {
                if (whole) {
                    __pipeline_memcpy_async(to_a + i * L::stride_a, from_a + i * a.stride, 16);
                } else {
                    copy_pack(to_a + i * L::stride_a, a, i0 + row_a + i, k0 + pack_a * wide);
                }
            }
#pragma unroll
            for (int k = 0; k < S::depth; k += S::threads / L::packs_b) {
                if (whole) {
                    __pipeline_memcpy_async(to_b + k * L::packs_b, from_b + k * b.stride, 16);
                } else {
                    copy_pack(to_b + k * L::packs_b, b, k0 + row_b + k, j0 + pack_b * wide);
                }
            }
            from_a += S::depth;
            from_b += S::depth * b.stride;
        }
        __pipeline_commit();
    };
    int const warp = threadIdx.x / 32;
    int const down = threadIdx.x % 32 / 8; // of the lane in its warp
    int const across = threadIdx.x % 8;
    int const iw = warp / 2 * (S::rows / 4) + down;      // the lane's rows are 4 apart
    int const jw = warp % 2 * (L::packs_b / 2) + across; // its packs of columns 8
    T sum[side][side] = {};
#pragma unroll
    for (int stage = 0; stage < L::stages - 1; ++stage) {
        fetch(stage, stage * S::depth);
    }
    int stage = 0;
    for (int k0 = 0; k0 < depth; k0 += S::depth) {
        __pipeline_wait_prior(L::stages - 2);
        __syncthreads();
        fetch(stage == 0 ? L::stages - 1 : stage - 1, k0 + (L::stages - 1) * S::depth);
        Pack<T> const* const tile_a = tiles_a + stage * L::tile_a + iw * L::stride_a;
        Pack<T> const* const tile_b = tiles_b + stage * L::tile_b + jw;
        Pack<T> of_a[side];
        Pack<T> of_b[2][side / wide]; // of this k and of the next
#pragma unroll
        for (int s = 0; s < side / wide; ++s) {
            of_b[0][s] = tile_b[s * 8];
        }
#pragma unroll
        for (int k = 0; k < S::depth; ++k) {
            if (k % wide == 0) {
#pragma unroll
                for (int r = 0; r < side; ++r) {
                    of_a[r] = tile_a[r * 4 * L::stride_a + k / wide];
                }
            }
            if (k + 1 < S::depth) {
#pragma unroll
                for (int s = 0; s < side / wide; ++s) {
                    of_b[(k + 1) % 2][s] = tile_b[(k + 1) * L::packs_b + s * 8];
                }
            }
#pragma unroll
            for (int r = 0; r < side; ++r) {
#pragma unroll
                for (int s = 0; s < side; ++s) {
                    sum[r][s] += of_a[r].value[k % wide] * of_b[k % 2][s / wide].value[s % wide];
                }
            }
        }
        stage = stage + 1 == L::stages ? 0 : stage + 1;
    }
#pragma unroll
    for (int r = 0; r < side; ++r) {
#pragma unroll
        for (int s = 0; s < side; ++s) {
            int const i = i0 + iw + r * 4;
            int const j = j0 + (jw + s / wide * 8) * wide + s % wide;
            if (whole || (i < c.rows && j < c.columns)) {
                c.data[i * c.stride + j] = sum[r][s];
            }
        }
    }
}
//! [warp_tiles]

template <class T>
Sizes sizes_of(In<T> const& a, In<T> const& b)
{
    return {static_cast<int>(a.rows), static_cast<int>(b.columns), static_cast<int>(a.columns)};
}

template <class T>
dim3 grid_of(Sizes sizes)
{
    return {static_cast<unsigned>(ceil_div(sizes.columns, Shape<T>::columns)),
            static_cast<unsigned>(ceil_div(sizes.rows, Shape<T>::rows))};
}

template <class T>
void launch_register_tiles(In<T> a, In<T> b, Matrix<T> c, cuda::Stream const& stream)
{
    Sizes const sizes = sizes_of(a, b);
    register_tiles<<<grid_of<T>(sizes), Shape<T>::threads, 0, stream.get()>>>(a.data, b.data,
                                                                              c.data, sizes);
    cuda::check_launch();
}

template <class T, auto kernel>
void launch_with_packs(In<T> a, In<T> b, Matrix<T> c, cuda::Stream const& stream)
{
    Sizes const sizes = sizes_of(a, b);
    kernel<<<grid_of<T>(sizes), Shape<T>::threads, 0, stream.get()>>>(
        a.data, b.data, c.data, sizes, has_aligned_rows(a.data, a.columns),
        has_aligned_rows(b.data, b.columns));
    cuda::check_launch();
}

/// Bytes of shared memory of `async_copies`.
template <class T>
constexpr int async_bytes =
    3 * (Shape<T>::rows + Shape<T>::columns) * Shape<T>::depth* static_cast<int>(sizeof(T));

template <class T, bool splits>
void launch_async_copies(In<T> a, In<T> b, Matrix<T> c, cuda::Stream const& stream)
{
    Sizes const sizes = sizes_of(a, b);
    auto const kernel = async_copies<T, splits>;
    cuda::check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, async_bytes<T>));
    dim3 grid = grid_of<T>(sizes);
    int share = sizes.depth;
    if (splits) {
        // As many parts as give every multiprocessor a block, each of some tiles.
        int device = 0;
        int multiprocessors = 0;
        cuda::check(cudaGetDevice(&device));
        cuda::check(
            cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
        auto const blocks = std::int64_t{grid.x} * grid.y;
        auto const parts = std::clamp<std::int64_t>(multiprocessors / blocks, 1,
                                                    ceil_div(sizes.depth, 2 * Shape<T>::depth));
        share = static_cast<int>(ceil_div(ceil_div(sizes.depth, parts), Shape<T>::depth)) *
                Shape<T>::depth;
        grid.z = static_cast<unsigned>(ceil_div(sizes.depth, share));
        set_zero(c, stream);
    }
    kernel<<<grid, Shape<T>::threads, async_bytes<T>, stream.get()>>>(view_of(a), view_of(b),
                                                                      view_of(c), share);
    cuda::check_launch();
}

template <class T>
void launch_warp_tiles(In<T> a, In<T> b, Matrix<T> c, cuda::Stream const& stream)
{
    using S = Shape<T>;
    bool const whole = has_whole_tiles(a, b, S::rows, S::columns, S::depth);
    auto const kernel = whole ? warp_tiles<T, true> : warp_tiles<T, false>;
    constexpr int bytes = WarpLayout<T>::bytes;
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    dim3 const tiles = grid_of<T>(sizes_of(a, b));
    kernel<<<tiles.x * tiles.y, S::threads, bytes, stream.get()>>>(
        view_of(a), view_of(b), view_of(c), static_cast<int>(tiles.y), static_cast<int>(tiles.x));
    cuda::check_launch();
}

template <class T>
std::string_view never(In<T> const&, In<T> const&, Matrix<T> const&)
{
    return {};
}

} // namespace

template <class T>
std::vector<Step<T>> register_steps()
{
    return {
        {"register_tiles", launch_register_tiles<T>, refuses_gaps<T>},
        {"vector_loads", launch_with_packs<T, vector_loads<T>>, refuses_gaps<T>},
        {"swizzled_tiles", launch_with_packs<T, swizzled_tiles<T>>, refuses_gaps<T>},
        {"async_copies", launch_async_copies<T, false>, never<T>},
        {"split_k", launch_async_copies<T, true>, never<T>},
        {"warp_tiles", launch_warp_tiles<T>, never<T>},
    };
}

template std::vector<Step<float>> register_steps();
template std::vector<Step<double>> register_steps();

} // namespace dense::gpu
