#include "spmv/formats/two_phase/gpu.hpp"

#include "spmv/device/threads.cuh"
#include "spmv/formats/row_sums.cuh"

#include "cuda/device.hpp"
#include "cuda/error.hpp"

#include <algorithm>

namespace spmv::gpu {

namespace {

constexpr int strip_threads = 1024;
constexpr int strip_packs = 2; ///< of four entries that a thread loads at once
constexpr int tile_threads = 512;
constexpr int tile_packs = 4;

/// Columns of a strip: two blocks with their parts of `x` fit into one multiprocessor.
template <class T>
std::int32_t strip_columns()
{
    return static_cast<std::int32_t>(
        std::min((::cuda::shared_bytes() / 2 - 1024) / sizeof(T), std::size_t{65536}));
}

//! [gpu_two_phase]
/// Multiplies entries by their elements of `x`; blocks share the entries equally, wherever strips
/// end.
template <class T>
__global__ __launch_bounds__(strip_threads) void multiply_strips(TwoPhaseView<T> a,
                                                                 T const* __restrict__ x,
                                                                 T* __restrict__ products)
{
    extern __shared__ unsigned char memory[];
    T* const part_of_x = reinterpret_cast<T*>(memory);
    auto const begin_of_strip = [&](int s) { return a.begin[std::int64_t{s} * a.tiles]; };
    std::int64_t const packs = begin_of_strip(a.strips) / 4;
    auto begin = static_cast<int>(packs * blockIdx.x / gridDim.x * 4);
    auto const last = static_cast<int>(packs * (blockIdx.x + 1) / gridDim.x * 4);
    int strip = first_where(a.strips, [&](int s) { return begin_of_strip(s + 1) > begin; });
    for (; begin < last; ++strip) {
        int const end = min(last, begin_of_strip(strip + 1));
        int const first_column = strip * a.strip_columns;
        int const width = min(a.strip_columns, a.columns - first_column);
        __syncthreads();
        for (int i = threadIdx.x; i < width; i += strip_threads) {
            part_of_x[i] = __ldg(x + first_column + i);
        }
        __syncthreads();
        for (int from = begin + static_cast<int>(threadIdx.x) * 4; from < end;
             from += strip_threads * strip_packs * 4) {
            Pack<std::uint16_t, 4> col[strip_packs];
            Pack<T, 4> value[strip_packs];
#pragma unroll
            for (int i = 0; i < strip_packs; ++i) {
                int const entry = from + i * strip_threads * 4;
                col[i] = load_once<4>(a.col + (entry < end ? entry : from));
                value[i] = load_once<4>(a.values + (entry < end ? entry : from));
            }
#pragma unroll
            for (int i = 0; i < strip_packs; ++i) {
                int const entry = from + i * strip_threads * 4;
                if (entry < end) {
                    Pack<T, 4> product;
#pragma unroll
                    for (int j = 0; j < 4; ++j) {
                        product.element[j] = value[i].element[j] * part_of_x[col[i].element[j]];
                    }
                    *reinterpret_cast<Pack<T, 4>*>(products + entry) = product;
                }
            }
        }
        begin = end;
    }
}

/// Adds up the products of a tile, a warp for each of its blocks.
template <class T>
__global__ __launch_bounds__(tile_threads) void add_products(TwoPhaseView<T> a, int capacity,
                                                             T const* __restrict__ products,
                                                             T* __restrict__ y)
{
    extern __shared__ unsigned char memory[];
    int const first = a.first_row[blockIdx.x];
    int const rows = a.first_row[blockIdx.x + 1] - first;
    RowSums<T, tile_threads> sums{reinterpret_cast<T*>(memory), capacity, rows};
    int const lane = threadIdx.x % warp;
    for (int strip = threadIdx.x / warp; strip < a.strips; strip += tile_threads / warp) {
        std::int64_t const block = std::int64_t{strip} * a.tiles + blockIdx.x;
        int const end = a.begin[block + 1];
        for (int from = a.begin[block] + lane * 4; from < end; from += tile_packs * warp * 4) {
            Pack<std::uint16_t, 4> row[tile_packs];
            Pack<T, 4> product[tile_packs];
#pragma unroll
            for (int i = 0; i < tile_packs; ++i) {
                int const entry = from + i * warp * 4;
                row[i] = load_once<4>(a.row + (entry < end ? entry : from));
                product[i] = load_once<4>(products + (entry < end ? entry : from));
            }
#pragma unroll
            for (int i = 0; i < tile_packs; ++i) {
                if (from + i * warp * 4 < end) {
#pragma unroll
                    for (int j = 0; j < 4; ++j) {
                        sums.add(row[i].element[j], product[i].element[j]);
                    }
                }
            }
        }
    }
    sums.write(y + first);
}
//! [gpu_two_phase]

/// Some tiles for each multiprocessor, so that it does not matter if one has more entries.
template <class T>
EntryBlocksShape shape()
{
    return {.tiles = 4 * static_cast<std::int32_t>(::cuda::multiprocessors()),
            .most_rows = static_cast<std::int32_t>((std::size_t{1} << 16) / sizeof(T)) - 1,
            .strip_columns = strip_columns<T>(),
            .by_strip = true,
            .chunk = 4};
}

} // namespace

template <class T>
TwoPhase<T>::TwoPhase(CsrView<T> const& a, cudaStream_t stream)
    : columns_{a.columns}, blocks_{a, shape<T>(), stream}, products_(blocks_.values.size())
{
    auto const most = static_cast<int>(::cuda::shared_bytes());
    ::cuda::check(cudaFuncSetAttribute(multiply_strips<T>,
                                       cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    ::cuda::check(
        cudaFuncSetAttribute(add_products<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
}

template <class T>
void TwoPhase<T>::operator()(T const* x, T* y, cudaStream_t stream) const
{
    TwoPhaseView<T> const a{columns_,           blocks_.tiles,        blocks_.strips,
                            strip_columns<T>(), blocks_.begin.data(), blocks_.first_row.data(),
                            blocks_.row.data(), blocks_.col.data(),   blocks_.values.data()};
    if (products_.size() > 0) {
        auto const width = static_cast<std::size_t>(std::min(a.strip_columns, columns_));
        multiply_strips<<<2 * ::cuda::multiprocessors(), strip_threads, width * sizeof(T),
                          stream>>>(a, x, products_.data());
        ::cuda::check_launch();
    }
    auto const capacity = blocks_.room_for_sums(least_row_sums);
    add_products<<<static_cast<unsigned>(blocks_.tiles), tile_threads, capacity * sizeof(T),
                   stream>>>(a, static_cast<int>(capacity), products_.data(), y);
    ::cuda::check_launch();
}

template class TwoPhase<float>;
template class TwoPhase<double>;

} // namespace spmv::gpu
