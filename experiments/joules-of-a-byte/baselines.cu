#include "kernels.hpp"

#include "cuda/error.hpp"

#include <chrono>
#include <thread>

namespace joules {

namespace {

//! [spin]
__global__ void look_at_clock(long long cycles, std::int32_t* marks)
{
    auto const begin = clock64();
    while (clock64() - begin < cycles) {
    }
    marks[blockIdx.x * threads_of_block + threadIdx.x] = 1;
}
//! [spin]

//! [idle]
__global__ void mark_one(std::int32_t* mark)
{
    *mark = 1;
}

/// Runs on the host in its turn, while the queue waits.
void CUDART_CB sleep_on_host(void* milliseconds)
{
    std::this_thread::sleep_for(
        std::chrono::milliseconds{reinterpret_cast<std::intptr_t>(milliseconds)});
}
//! [idle]

} // namespace

void spin(long long cycles, std::span<std::int32_t> marks, cuda::Stream const& stream)
{
    look_at_clock<<<blocks(), threads_of_block, 0, stream.get()>>>(cycles, marks.data());
    cuda::check_launch();
}

void idle(double seconds, std::span<std::int32_t> mark, cuda::Stream const& stream)
{
    mark_one<<<1, 1, 0, stream.get()>>>(mark.data());
    cuda::check_launch();
    auto const milliseconds = static_cast<std::intptr_t>(1e3 * seconds);
    cuda::check(
        cudaLaunchHostFunc(stream.get(), sleep_on_host, reinterpret_cast<void*>(milliseconds)));
}

} // namespace joules
