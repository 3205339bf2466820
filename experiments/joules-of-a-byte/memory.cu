#include "kernels.hpp"

#include "ceilings/device_sum.cuh"
#include "cuda/device.hpp"
#include "cuda/error.hpp"

namespace joules {

namespace {

constexpr std::uint32_t unroll = 4; ///< loads of a thread under way at once

/// Lanes of all threads, and one line more: so a warp comes to every line of a period.
__device__ std::uint32_t stride()
{
    return gridDim.x * threads_of_block + lanes;
}

__device__ std::uint32_t first()
{
    return blockIdx.x * threads_of_block + threadIdx.x;
}

__device__ std::uint32_t sum_of(uint4 v)
{
    return v.x + v.y + (v.z + v.w);
}

__global__ void fill(Bits bits, std::int32_t const* seed, std::uint32_t* table, std::size_t words)
{
    auto const step = std::size_t{gridDim.x} * threads_of_block;
    for (auto i = std::size_t{first()}; i < words; i += step) {
        table[i] = word_read(bits, static_cast<std::uint32_t>(*seed),
                             static_cast<std::uint32_t>(i % period));
    }
}

//! [read_words]
/// All threads together walk through a table that begins again behind `mask`.
template <class Load>
__device__ std::uint32_t walk(Load load, std::uint32_t mask, std::uint32_t steps)
{
    auto at = first();
    std::uint32_t sum[unroll] = {};
    for (std::uint32_t step = 0; step < steps; step += unroll) {
        for (unsigned i = 0; i < unroll; ++i, at += stride()) {
            sum[i] += sum_of(load(at & mask));
        }
    }
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

template <Level from>
__global__ void read_table(uint4 const* table, std::uint32_t mask, std::uint32_t steps,
                           std::int32_t* sums)
{
    auto const load = [=](std::uint32_t i) {
        return from == Level::l1 ? __ldca(table + i) : __ldcg(table + i);
    };
    auto const sum = ceilings::block_sum<threads_of_block>(walk(load, mask, steps));
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = static_cast<std::int32_t>(sum);
    }
}

__global__ void read_shared(uint4 const* table, std::uint32_t mask, std::uint32_t steps,
                            std::int32_t* sums)
{
    __shared__ uint4 held[period / words_of_lane];
    for (auto i = threadIdx.x; i < period / words_of_lane; i += threads_of_block) {
        held[i] = table[i];
    }
    __syncthreads();
    auto const sum = ceilings::block_sum<threads_of_block>(
        walk([&](std::uint32_t i) { return held[i]; }, mask, steps));
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = static_cast<std::int32_t>(sum);
    }
}
//! [read_words]

//! [write_words]
/// What a lane has to write: other words in every line, and the same ones whenever it comes there.
struct Written
{
    uint4 value;

    __device__ explicit Written(std::uint32_t seed)
    {
        auto const lane = threadIdx.x % lanes * words_of_lane;
        auto const word = [&](std::uint32_t k) {
            return rotated(word_read(Bits::random, seed, lane + k), first() / lanes);
        };
        value = {word(0), word(1), word(2), word(3)};
    }
    __device__ void next(std::uint32_t lines)
    {
        auto const turn = [&](std::uint32_t word) { return __funnelshift_l(word, word, lines); };
        value = {turn(value.x), turn(value.y), turn(value.z), turn(value.w)};
    }
};

__global__ void write_table(std::int32_t const* seed, std::uint32_t mask, std::uint32_t steps,
                            uint4* table)
{
    auto const lines = stride() / lanes;
    Written written{static_cast<std::uint32_t>(*seed)};
    auto at = first();
    for (std::uint32_t step = 0; step < steps; ++step, at += stride()) {
        table[at & mask] = written.value;
        written.next(lines);
    }
}

/// A store that no compiler leaves out because a later one comes to the same place.
__device__ void store_shared(unsigned address, uint4 v)
{
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v.x), "r"(v.y),
                 "r"(v.z), "r"(v.w)
                 : "memory");
}

__global__ void write_own_table(std::int32_t const* seed, std::uint32_t steps, std::int32_t* sums)
{
    __shared__ uint4 table[period / words_of_lane];
    auto const lines = stride() / lanes;
    auto const own = static_cast<unsigned>(__cvta_generic_to_shared(table));
    Written written{static_cast<std::uint32_t>(*seed)};
    auto at = first();
    for (std::uint32_t step = 0; step < steps; ++step, at += stride()) {
        store_shared(own + at % (period / words_of_lane) * sizeof(uint4), written.value);
        written.next(lines);
    }
    __syncthreads();
    std::uint32_t sum = 0;
    for (auto i = threadIdx.x; i < period / words_of_lane; i += threads_of_block) {
        sum += sum_of(table[i]);
    }
    sum = ceilings::block_sum<threads_of_block>(sum);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = static_cast<std::int32_t>(sum);
    }
}
//! [write_words]

} // namespace

unsigned blocks()
{
    constexpr unsigned resident = 8; // of a multiprocessor: 2,048 threads
    return resident * cuda::multiprocessors();
}

std::size_t grid_threads()
{
    return std::size_t{blocks()} * threads_of_block;
}

void fill_table(Bits bits, std::span<std::int32_t const> seed, std::span<std::uint32_t> table,
                cuda::Stream const& stream)
{
    fill<<<blocks(), threads_of_block, 0, stream.get()>>>(bits, seed.data(), table.data(),
                                                          table.size());
    cuda::check_launch();
}

void read_words(Level from, std::span<std::uint32_t const> table, std::uint32_t steps,
                std::span<std::int32_t> sums, cuda::Stream const& stream)
{
    auto* const kernel = from == Level::device ? read_table<Level::device>
                         : from == Level::l1   ? read_table<Level::l1>
                                               : read_shared;
    auto const mask = static_cast<std::uint32_t>(table.size() / words_of_lane - 1);
    kernel<<<blocks(), threads_of_block, 0, stream.get()>>>(
        reinterpret_cast<uint4 const*>(table.data()), mask, steps, sums.data());
    cuda::check_launch();
}

void write_words(std::span<std::int32_t const> seed, std::uint32_t steps,
                 std::span<std::int32_t> table, cuda::Stream const& stream)
{
    auto const mask = static_cast<std::uint32_t>(table.size() / words_of_lane - 1);
    write_table<<<blocks(), threads_of_block, 0, stream.get()>>>(
        seed.data(), mask, steps, reinterpret_cast<uint4*>(table.data()));
    cuda::check_launch();
}

void write_shared(std::span<std::int32_t const> seed, std::uint32_t steps,
                  std::span<std::int32_t> sums, cuda::Stream const& stream)
{
    write_own_table<<<blocks(), threads_of_block, 0, stream.get()>>>(seed.data(), steps,
                                                                     sums.data());
    cuda::check_launch();
}

} // namespace joules
