#include "cuda/device.hpp"

#include "cuda/error.hpp"

#include <fmt/format.h>

namespace cuda {

namespace {

int attribute(cudaDeviceAttr which)
{
    int device = 0;
    int value = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&value, which, device));
    return value;
}

} // namespace

std::string missing_device()
{
    int driver = 0;
    check(cudaDriverGetVersion(&driver));
    if (driver == 0) {
        return "no CUDA device here: no driver";
    }
    int count = 0;
    auto const code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess) {
        static_cast<void>(cudaGetLastError()); // it is told here and shall not be found elsewhere
        return fmt::format("no CUDA device here: {}", cudaGetErrorString(code));
    }
    return count > 0 ? "" : "no CUDA device here";
}

unsigned multiprocessors()
{
    return static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount));
}

std::size_t l2_bytes()
{
    return static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize));
}

bool stays_in_l2(std::size_t bytes)
{
    return static_cast<double>(bytes) < 0.9 * static_cast<double>(l2_bytes());
}

bool overlaps_launches()
{
    return attribute(cudaDevAttrComputeCapabilityMajor) >= 9;
}

std::size_t shared_bytes()
{
    return static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

std::string runtime_version()
{
    int version = 0;
    check(cudaRuntimeGetVersion(&version));
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

} // namespace cuda
