#include "kit/box.hpp"
#include "kit/link.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

/// \file
/// The process of a contender that is device code: `box_gpu CUBIN SOCKET`. All host code is the
/// kit's. Each call loads the module anew and has memory of its own; the box tells the time of the
/// kernel, with every cache of the device flushed.

namespace {

constexpr std::size_t flushed_bytes = std::size_t{256} << 20; // beyond every L2 of today
constexpr double limit_seconds = 1;
/// How much later than the device this process may learn that a kernel has ended.
constexpr double notice_seconds = 20e-6;

/// How many of the first and of the second number each block of a grid does: device code says it.
constexpr char const* dealt[] = {"rows_per_block", "columns_per_block"};

void check(CUresult result, char const* what)
{
    if (result != CUDA_SUCCESS) {
        char const* text = nullptr;
        cuGetErrorString(result, &text);
        throw std::runtime_error(std::string{what} + ": " + (text != nullptr ? text : "unknown"));
    }
}

/// Memory of the device.
class Buffer
{
public:
    explicit Buffer(std::size_t bytes) { check(cuMemAlloc(&address_, bytes), "cuMemAlloc"); }
    ~Buffer() { cuMemFree(address_); }
    Buffer(Buffer const&) = delete;
    Buffer& operator=(Buffer const&) = delete;
    CUdeviceptr address() const { return address_; }

private:
    CUdeviceptr address_ = 0;
};

class Module
{
public:
    explicit Module(char const* file) { check(cuModuleLoad(&module_, file), "load"); }
    ~Module() { cuModuleUnload(module_); }
    Module(Module const&) = delete;
    Module& operator=(Module const&) = delete;

    CUfunction function(char const* name) const
    {
        CUfunction found{};
        check(cuModuleGetFunction(&found, module_, name), name);
        return found;
    }

    /// A number that the device code defines; throws where it is not within 1 and `most`.
    unsigned number(char const* name, int most) const
    {
        CUdeviceptr address = 0;
        std::size_t bytes = 0;
        int value = 0;
        check(cuModuleGetGlobal(&address, &bytes, module_, name), name);
        check(cuMemcpyDtoH(&value, address, sizeof value), name);
        if (bytes != sizeof value || value < 1 || value > most) {
            throw std::runtime_error(std::string{name} + ": found " + std::to_string(value) +
                                     ", expected 1 to " + std::to_string(most));
        }
        return static_cast<unsigned>(value);
    }

private:
    CUmodule module_{};
};

class Event
{
public:
    Event() { check(cuEventCreate(&event_, CU_EVENT_DEFAULT), "cuEventCreate"); }
    ~Event() { cuEventDestroy(event_); }
    Event(Event const&) = delete;
    Event& operator=(Event const&) = delete;
    CUevent get() const { return event_; }

private:
    CUevent event_{};
};

/// Refuses a kernel whose parameters are not those that it is given: the driver would copy as many
/// bytes as they have from this process, whose memory is nobody's business.
void require_parameters([[maybe_unused]] CUfunction kernel,
                        [[maybe_unused]] kit::Header const& header)
{
#if CUDA_VERSION >= 12040 // since then they can be asked for
    auto const count = static_cast<std::size_t>(header.numbers + header.arrays);
    std::size_t offset = 0;
    std::size_t bytes = 0;
    for (std::size_t k = 0; k < count; ++k) {
        auto const expected =
            k < static_cast<std::size_t>(header.numbers) ? sizeof(int) : sizeof(CUdeviceptr);
        if (cuFuncGetParamInfo(kernel, k, &offset, &bytes) != CUDA_SUCCESS || bytes != expected) {
            throw std::runtime_error("parameter " + std::to_string(k) +
                                     " of the kernel is another than in the kit's header");
        }
    }
    if (cuFuncGetParamInfo(kernel, count, &offset, &bytes) == CUDA_SUCCESS) {
        throw std::runtime_error("the kernel has more parameters than in the kit's header");
    }
#endif
}

/// Refuses a kernel that would leave no memory of the device to others: the driver keeps as much
/// for each thread that may run at once, also when the kernel has ended.
void require_little_local_memory(CUfunction kernel)
{
    constexpr int most = 16 << 10;
    int bytes = 0;
    check(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, kernel), "local memory");
    if (bytes > most) {
        throw std::runtime_error("each thread takes " + std::to_string(bytes) +
                                 " bytes of local memory, expected at most " +
                                 std::to_string(most));
    }
}

/// Launches and waits until all is done. The time is that between two events of the device; but
/// events lie in memory of the device, where a kernel might reach them, so it is never less than
/// what the host saw pass after the launch, for which the device must have nothing else to do.
template <class Launch>
double timed(Launch launch)
{
    using Clock = std::chrono::steady_clock;
    Event const begin;
    Event const end;
    check(cuCtxSynchronize(), "what was asked before");
    check(cuEventRecord(begin.get(), nullptr), "cuEventRecord");
    launch();
    auto const launched = Clock::now();
    auto const passed = [&] {
        return std::chrono::duration<double>(Clock::now() - launched).count();
    };
    check(cuEventRecord(end.get(), nullptr), "cuEventRecord");
    while (cuEventQuery(end.get()) == CUDA_ERROR_NOT_READY) {
        if (passed() > limit_seconds) {
            throw std::runtime_error("the kernel took more than 1 s");
        }
    }
    check(cuCtxSynchronize(), "kernel");
    auto const seen = passed();
    float milliseconds = 0;
    check(cuEventElapsedTime(&milliseconds, begin.get(), end.get()), "cuEventElapsedTime");
    return std::max(1e-3 * static_cast<double>(milliseconds), seen - notice_seconds);
}

/// One call on what the region holds; the region gets back all that the device has then.
double timed_call(char const* cubin, char* region, std::size_t bytes)
{
    kit::Header header;
    std::memcpy(&header, region, sizeof header);
    Module const module{cubin};
    auto const kernel = module.function(header.function);
    require_parameters(kernel, header);
    require_little_local_memory(kernel);
    auto const threads = module.number("threads_per_block", 1024);
    unsigned blocks[] = {1, 1};
    for (int k = 0; k < header.grid; ++k) {
        auto const each = module.number(dealt[k], 1 << 20);
        blocks[k] = (static_cast<unsigned>(header.number[k]) + each - 1) / each;
    }
    Buffer const memory{bytes};
    Buffer const others{flushed_bytes};
    check(cuMemcpyHtoD(memory.address(), region, bytes), "upload");
    check(cuCtxResetPersistingL2Cache(), "cuCtxResetPersistingL2Cache");
    check(cuMemsetD8(others.address(), 0, flushed_bytes), "flush");

    CUdeviceptr at[kit::most_arrays];
    std::vector<void*> arguments;
    for (int k = 0; k < header.numbers; ++k) {
        arguments.push_back(&header.number[k]);
    }
    for (int k = 0; k < header.arrays; ++k) {
        at[k] = memory.address() + header.array[k].offset;
        arguments.push_back(&at[k]);
    }
    auto const seconds = timed([&] {
        if (blocks[0] > 0 && blocks[1] > 0) {
            check(cuLaunchKernel(kernel, blocks[0], blocks[1], 1, threads, 1, 1, 0, nullptr,
                                 arguments.data(), nullptr),
                  "launch");
        }
    });
    check(cuMemcpyDtoH(region, memory.address(), bytes), "download");
    return seconds;
}

} // namespace

int main(int, char** argv)
{
    try {
        check(cuInit(0), "cuInit");
        CUdevice device{};
        CUcontext context{};
        check(cuDeviceGet(&device, 0), "cuDeviceGet");
        check(cuDevicePrimaryCtxRetain(&context, device), "context");
        check(cuCtxSetCurrent(context), "context");
    } catch (std::exception const& error) {
        std::fprintf(stderr, "box: %s\n", error.what());
        return 1;
    }
    return kit::serve(argv[2], 0, [&](char* region, std::size_t bytes) {
        auto& tail = *reinterpret_cast<kit::Tail*>(region + bytes - sizeof(kit::Tail));
        try {
            tail.seconds = timed_call(argv[1], region, bytes - sizeof(kit::Tail));
        } catch (std::exception const& error) { // the context may be of no use any more
            std::strncpy(tail.fault, error.what(), sizeof tail.fault - 1);
            std::_Exit(1);
        }
    });
}
