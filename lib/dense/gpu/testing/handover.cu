#include "dense/gpu/testing/handover.hpp"

#include "cuda/error.hpp"
#include "dense/gpu/hopper_tf32.cuh"

namespace dense::gpu::testing {

namespace {

constexpr int stages = 4;
constexpr int readers = handed_over_at_once;
constexpr int writers = handed_over_at_once;

struct Memory
{
    float stage[stages][handed_over_at_once];
    Barrier full[stages];
    Barrier empty[stages];
};

template <Lacks lacks>
__device__ void write_all(float const* from, int count, Memory& memory)
{
    int const own = threadIdx.x % writers;
    Turn<stages> turn;
    for (int i = 0; i < count; ++i, ++turn) {
        if (lacks != Lacks::wait_until_empty || i + 1 < count) {
            memory.empty[turn.stage].wait(turn.parity ^ 1);
        }
        if (lacks == Lacks::wait_until_full && i + 1 == count) {
            __nanosleep(1'000'000); // longer than others take to read
        }
        copy_float(&memory.stage[turn.stage][own], from + i * handed_over_at_once + own, true);
        memory.full[turn.stage].arrive_when_copied();
    }
}

/// Each thread reads what another warp has written.
template <Lacks lacks>
__device__ void read_all(int count, float* to, Memory& memory)
{
    int const at = (threadIdx.x + 40) % readers;
    float sum = 0;
    Turn<stages> turn;
    for (int i = 0; i < count; ++i, ++turn) {
        if (lacks != Lacks::wait_until_full || i + 1 < count) {
            memory.full[turn.stage].wait(turn.parity);
        }
        sum += memory.stage[turn.stage][at];
        __syncwarp();
        if (threadIdx.x % 32 == 0) {
            memory.empty[turn.stage].arrive();
        }
    }
    to[at] = sum;
}

template <Lacks lacks>
__global__ void handed_over(float const* from, int count, float* to)
{
    __shared__ Memory memory;
    if (threadIdx.x < stages) {
        memory.full[threadIdx.x].init(writers);
        memory.empty[threadIdx.x].init(readers / 32);
    }
    __syncthreads();
    if (threadIdx.x < readers) {
        read_all<lacks>(count, to, memory);
    } else {
        write_all<lacks>(from, count, memory);
    }
}

} // namespace

void add_handed_over(Lacks lacks, std::span<float const> from, std::span<float> to,
                     cuda::Stream const& stream)
{
    auto const kernel = lacks == Lacks::nothing           ? handed_over<Lacks::nothing>
                        : lacks == Lacks::wait_until_full ? handed_over<Lacks::wait_until_full>
                                                          : handed_over<Lacks::wait_until_empty>;
    kernel<<<1, readers + writers, 0, stream.get()>>>(
        from.data(), static_cast<int>(from.size() / handed_over_at_once), to.data());
    cuda::check_launch();
}

} // namespace dense::gpu::testing
