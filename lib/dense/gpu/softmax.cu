#include "dense/gpu/softmax.hpp"

#include "cuda/error.hpp"
#include "dense/gpu/softmax_kernels.cuh"
#include "dense/gpu/softmax_registers.cuh"
#include "dense/gpu/tile.cuh"
#include "dense/matrix.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace dense::gpu {

namespace {

int attribute(cudaDeviceAttr which)
{
    int device = 0;
    int value = 0;
    cuda::check(cudaGetDevice(&device));
    cuda::check(cudaDeviceGetAttribute(&value, which, device));
    return value;
}

int shared_bytes_of_block()
{
    return attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

unsigned blocks_of(std::int64_t rows)
{
    return static_cast<unsigned>(std::min<std::int64_t>(rows, std::int64_t{1} << 30));
}

/// Elements of a pack that all rows allow: at most 16 bytes, at most `most`.
template <class T>
int pack_of(T const* x, T const* y, std::int64_t columns, int most)
{
    auto const fits = [&](int count) {
        auto const bytes = count * sizeof(T);
        return bytes <= 16 && columns % count == 0 &&
               reinterpret_cast<std::uintptr_t>(x) % bytes == 0 &&
               reinterpret_cast<std::uintptr_t>(y) % bytes == 0;
    };
    int count = most;
    while (count > 1 && !fits(count)) {
        count /= 2;
    }
    return count;
}

/// Calls `launch` with the pack, at most 16 bytes of `T`, as a compile-time number.
template <class T, int largest = 16 / sizeof(T), class Launch>
void with_pack(int pack, Launch launch)
{
    if constexpr (largest > 1) {
        if (pack < largest) {
            with_pack<T, largest / 2>(pack, launch);
            return;
        }
    }
    launch(std::integral_constant<int, largest>{});
}

template <class Launch>
void with_threads(int threads, Launch launch)
{
    switch (threads) {
    case 1024:
        return launch(std::integral_constant<int, 1024>{});
    case 512:
        return launch(std::integral_constant<int, 512>{});
    case 256:
        return launch(std::integral_constant<int, 256>{});
    case 128:
        return launch(std::integral_constant<int, 128>{});
    default:
        throw std::invalid_argument{"softmax: found blocks of " + std::to_string(threads) +
                                    " threads, expected 128, 256, 512 or 1024"};
    }
}

/// Throws std::invalid_argument unless rows of y can be made of rows of x: in memory of their own,
/// or each in its place.
template <class T>
void require_rows(T const* x, T const* y, std::int64_t rows, std::int64_t columns)
{
    constexpr auto const* who = "dense::gpu::softmax";
    Matrix<T const> const from{x, rows, columns};
    Matrix<T const> const to{y, rows, columns};
    require_matrix(who, from);
    require_matrix(who, to);
    if (x != y && overlap(from, to)) {
        throw std::invalid_argument{std::string{who} + ": found a result of " + size_text(to) +
                                    " that overlaps a part of the operand, expected memory of its"
                                    " own or just the operand's"};
    }
}

constexpr int most_of_warp = 1024; // elements of a row that a warp keeps in registers

template <class T>
void launch_warp(Softmax what, T const* x, T* y, std::int64_t rows, std::int64_t columns,
                 cuda::Stream const& stream)
{
    auto const launch = [&](auto kernel) {
        auto const blocks = std::min<std::int64_t>(ceil_div(rows, 8), 1 << 30);
        kernel<<<static_cast<unsigned>(blocks), 256, 0, stream.get()>>>(
            what, Load<T>{x, columns}, Store<T>{y, columns}, rows, static_cast<int>(columns));
        cuda::check_launch();
    };
    if (columns <= 32) {
        launch(warp_per_row<T, 1>);
    } else if (columns <= 128) {
        launch(warp_per_row<T, 4>);
    } else if (columns <= 512) {
        launch(warp_per_row<T, 16>);
    } else {
        launch(warp_per_row<T, 32>);
    }
}

template <class T>
bool takes_a_warp(std::int64_t columns)
{
    return columns <= most_of_warp;
}

template <class T>
bool takes_shared(std::int64_t columns)
{
    return columns * static_cast<std::int64_t>(sizeof(Sum<T>)) <= shared_bytes_of_block() - 2048;
}

template <class T>
bool takes_any(std::int64_t)
{
    return true;
}

template <class T>
void launch_shared(Softmax what, T const* x, T* y, std::int64_t rows, std::int64_t columns,
                   int threads, int most, cuda::Stream const& stream)
{
    auto const bytes = static_cast<int>(columns * static_cast<std::int64_t>(sizeof(Sum<T>)));
    with_pack<T>(pack_of(x, y, columns, most), [&]<int pack>(std::integral_constant<int, pack>) {
        with_threads(threads, [&]<int size>(std::integral_constant<int, size>) {
            auto const kernel = block_shared<T, pack, size>;
            cuda::check(
                cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
            kernel<<<blocks_of(rows), size, static_cast<std::size_t>(bytes), stream.get()>>>(
                what, Load<T>{x, columns}, Store<T>{y, columns}, rows, static_cast<int>(columns));
            cuda::check_launch();
        });
    });
}

template <class T, int most>
void launch_shared_by_occupancy(Softmax what, T const* x, T* y, std::int64_t rows,
                                std::int64_t columns, cuda::Stream const& stream)
{
    launch_shared(what, x, y, rows, columns, block_size_by_occupancy<T>(columns), most, stream);
}

template <class T, Layout layout>
void launch_layout(Softmax what, T const* x, T* y, std::int64_t rows, std::int64_t columns,
                   cuda::Stream const& stream)
{
    auto const bytes = static_cast<int>(columns * static_cast<std::int64_t>(sizeof(Sum<T>)));
    auto const launch = [&](auto kernel) {
        cuda::check(
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
        kernel<<<blocks_of(rows), 256, static_cast<std::size_t>(bytes), stream.get()>>>(
            what, Load<T>{x, columns}, Store<T>{y, columns}, rows, static_cast<int>(columns));
        cuda::check_launch();
    };
    if (pack_of(x, y, columns, 2) == 2) {
        launch(block_shared<T, 2, 256, layout>);
    } else {
        launch(block_shared<T, 1, 256, layout>);
    }
}

template <class T, bool online>
void launch_streamed(Softmax what, T const* x, T* y, std::int64_t rows, std::int64_t columns,
                     cuda::Stream const& stream)
{
    with_pack<T>(pack_of(x, y, columns, 8), [&]<int pack>(std::integral_constant<int, pack>) {
        auto const kernel = online ? block_online<T, pack, 1024> : block_uncached<T, pack, 1024>;
        kernel<<<blocks_of(rows), 1024, 0, stream.get()>>>(what, Load<T>{x, columns},
                                                           Store<T>{y, columns}, rows, columns);
        cuda::check_launch();
    });
}

constexpr int most_blocks = 16; // of a cluster on Hopper, where more than 8 must be asked for

/// Blocks of the smallest cluster whose shared memory holds a row; 0 if none does.
template <class T>
int cluster_for(std::int64_t columns)
{
    auto const bytes = columns * static_cast<std::int64_t>(sizeof(Sum<T>));
    std::int64_t const of_block = shared_bytes_of_block() - 4096;
    for (int blocks = 2; blocks <= most_blocks; blocks *= 2) {
        if (bytes <= of_block * blocks) {
            return blocks;
        }
    }
    return 0;
}

template <class T>
bool takes_clusters(std::int64_t columns)
{
    return attribute(cudaDevAttrComputeCapabilityMajor) >= 9 && columns >= 4096 &&
           cluster_for<T>(columns) > 0;
}

template <class T>
void launch_cluster(Softmax what, T const* x, T* y, std::int64_t rows, std::int64_t columns,
                    cuda::Stream const& stream)
{
    int const blocks = cluster_for<T>(columns);
    int const share = static_cast<int>(ceil_div(ceil_div(columns, blocks), 8) * 8);
    cudaLaunchAttribute shape{};
    shape.id = cudaLaunchAttributeClusterDimension;
    shape.val.clusterDim.x = static_cast<unsigned>(blocks);
    shape.val.clusterDim.y = 1;
    shape.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(rows * blocks));
    config.blockDim = dim3(1024);
    config.dynamicSmemBytes = static_cast<std::size_t>(share) * sizeof(Sum<T>);
    config.stream = stream.get();
    config.attrs = &shape;
    config.numAttrs = 1;
    with_pack<T>(pack_of(x, y, columns, 8), [&]<int pack>(std::integral_constant<int, pack>) {
        auto const kernel = cluster_per_row<T, pack, 1024>;
        cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(config.dynamicSmemBytes)));
        cuda::check(
            cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
        cuda::check(cudaLaunchKernelEx(&config, kernel, what, Load<T>{x, columns},
                                       Store<T>{y, columns}, rows, columns, share));
    });
}

/// Threads of a row of `row_in_registers` and the packs of each, from short rows to long ones:
/// beyond a warp four packs rather than two, as a thread has a fixed part of the work.
template <class Launch>
void with_registers_for(std::int64_t packs, Launch launch)
{
    auto const of = [&]<int group, int of_thread>() {
        if (packs > group * of_thread) {
            return false;
        }
        launch(std::integral_constant<int, group>{}, std::integral_constant<int, of_thread>{});
        return true;
    };
    of.template operator()<4, 1>() || of.template operator()<8, 1>() ||
        of.template operator()<16, 1>() || of.template operator()<32, 1>() ||
        of.template operator()<32, 2>() || of.template operator()<32, 4>() ||
        of.template operator()<128, 2>() || of.template operator()<128, 4>() ||
        of.template operator()<256, 4>() || of.template operator()<512, 4>() ||
        of.template operator()<512, 8>();
}

/// Packs that a row may touch: one more where rows do not begin at multiples of 16 bytes.
template <class T>
std::int64_t packs_of_row(std::int64_t columns, bool begins_anywhere)
{
    constexpr std::int64_t wide = 16 / sizeof(T);
    return ceil_div(columns, wide) + (begins_anywhere || columns % wide != 0 ? 1 : 0);
}

/// Blocks of a cluster whose registers hold so many packs; 0 if none does.
int blocks_for(std::int64_t packs)
{
    constexpr std::int64_t of_block = 512 * 8;
    int const most = attribute(cudaDevAttrComputeCapabilityMajor) >= 9 ? most_blocks : 1;
    for (int blocks = 1; blocks <= most; blocks *= 2) {
        if (packs <= blocks * of_block) {
            return blocks;
        }
    }
    return 0;
}

template <class T>
bool takes_registers(std::int64_t columns)
{
    return blocks_for(packs_of_row<T>(columns, false)) > 0;
}

/// Where x and y lie differently, packs of one would be no packs of the other.
template <class T>
bool lie_alike(T const* x, T const* y)
{
    return (reinterpret_cast<std::uintptr_t>(x) - reinterpret_cast<std::uintptr_t>(y)) % 16 == 0;
}

template <class T>
void launch_registers(Softmax what, T const* x, T* y, std::int64_t rows, std::int64_t columns,
                      cuda::Stream const& stream)
{
    auto const of_row = packs_of_row<T>(columns, reinterpret_cast<std::uintptr_t>(x) % 16 != 0);
    int const blocks = blocks_for(of_row);
    if (blocks == 0 || !lie_alike(x, y)) {
        return launch_streamed<T, true>(what, x, y, rows, columns, stream);
    }
    auto const packs = ceil_div(of_row, blocks);
    with_registers_for(
        packs, [&]<int group, int of_thread>(std::integral_constant<int, group>,
                                             std::integral_constant<int, of_thread>) {
            auto const kernel = row_in_registers<T, group, of_thread>;
            constexpr int threads = threads_for<group>;
            cudaLaunchAttribute shape{};
            shape.id = cudaLaunchAttributeClusterDimension;
            shape.val.clusterDim.x = static_cast<unsigned>(blocks);
            shape.val.clusterDim.y = 1;
            shape.val.clusterDim.z = 1;
            cudaLaunchConfig_t config{};
            config.gridDim = dim3(static_cast<unsigned>(ceil_div(rows * group, threads) * blocks));
            config.blockDim = dim3(threads);
            config.stream = stream.get();
            config.attrs = &shape;
            config.numAttrs = blocks > 1 ? 1 : 0;
            if (blocks > 8) {
                cuda::check(cudaFuncSetAttribute(
                    kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
            }
            cuda::check(cudaLaunchKernelEx(&config, kernel, what, x, y, rows, columns, blocks));
        });
}

} // namespace

template <class T>
int block_size_by_occupancy(std::int64_t columns)
{
    if (!takes_shared<T>(columns)) {
        return 0;
    }
    auto const bytes = static_cast<std::size_t>(columns) * sizeof(Sum<T>);
    auto const resident = [&]<int size>(std::integral_constant<int, size>) {
        auto const kernel = block_shared<T, 1, size>;
        cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(bytes)));
        int blocks = 0;
        cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, size, bytes));
        return blocks;
    };
    int const of_128 = resident(std::integral_constant<int, 128>{});
    if (of_128 == 0) {
        return 0;
    }
    if (resident(std::integral_constant<int, 1024>{}) == of_128) {
        return 1024;
    }
    if (resident(std::integral_constant<int, 512>{}) == of_128) {
        return 512;
    }
    return resident(std::integral_constant<int, 256>{}) == of_128 ? 256 : 128;
}

template <class T>
void softmax_of_block_size(Softmax what, T const* x, T* y, std::int64_t rows, std::int64_t columns,
                           int threads, cuda::Stream const& stream)
{
    require_rows(x, y, rows, columns);
    if (rows == 0 || columns == 0) {
        return;
    }
    launch_shared(what, x, y, rows, columns, threads, 8, stream);
}

template <class T>
std::vector<SoftmaxStep<T>> softmax_steps()
{
    return {
        {"warp", launch_warp<T>, takes_a_warp<T>},
        {"block_shared_pack1", launch_shared_by_occupancy<T, 1>, takes_shared<T>},
        {"block_shared_pack2", launch_shared_by_occupancy<T, 2>, takes_shared<T>},
        {"block_shared", launch_shared_by_occupancy<T, 8>, takes_shared<T>},
        {"block_uncached", launch_streamed<T, false>, takes_any<T>},
        {"block_online", launch_streamed<T, true>, takes_any<T>},
        {"cluster", launch_cluster<T>, takes_clusters<T>},
        {"registers", launch_registers<T>, takes_registers<T>},
    };
}

template <class T>
std::vector<SoftmaxStep<T>> softmax_layouts()
{
    return {{"columns_pack2", launch_layout<T, Layout::columns>, takes_shared<T>},
            {"adjacent_pack2", launch_layout<T, Layout::adjacent>, takes_shared<T>},
            {"adjacent_scalar_pack2", launch_layout<T, Layout::adjacent_scalar>, takes_shared<T>},
            {"chunks_pack2", launch_layout<T, Layout::chunks>, takes_shared<T>}};
}

template <class T>
void softmax(Softmax what, T const* x, T* y, std::int64_t rows, std::int64_t columns,
             cuda::Stream const& stream)
{
    require_rows(x, y, rows, columns);
    if (rows == 0 || columns == 0) {
        return;
    }
    if (lie_alike(x, y) && takes_registers<T>(columns)) {
        launch_registers(what, x, y, rows, columns, stream);
    } else if (takes_a_warp<T>(columns)) {
        launch_warp(what, x, y, rows, columns, stream);
    } else if (takes_clusters<T>(columns) && columns >= 32768) {
        launch_cluster(what, x, y, rows, columns, stream);
    } else if (takes_shared<T>(columns)) {
        launch_shared_by_occupancy<T, 8>(what, x, y, rows, columns, stream);
    } else {
        launch_streamed<T, true>(what, x, y, rows, columns, stream);
    }
}

#define INSTANTIATE(T)                                                                             \
    template void softmax(Softmax, T const*, T*, std::int64_t, std::int64_t, cuda::Stream const&); \
    template std::vector<SoftmaxStep<T>> softmax_steps();                                          \
    template std::vector<SoftmaxStep<T>> softmax_layouts();                                        \
    template int block_size_by_occupancy<T>(std::int64_t);                                         \
    template void softmax_of_block_size(Softmax, T const*, T*, std::int64_t, std::int64_t, int,    \
                                        cuda::Stream const&);

INSTANTIATE(base::fp16)
INSTANTIATE(base::bf16)
INSTANTIATE(float)
INSTANTIATE(double)

} // namespace dense::gpu
