#include "ceilings/device_probes.hpp"

#include <stdexcept>

// Built in place of the probes of a GPU where there is no nvcc; never called, as the GPU is
// missing.

bench::Ceiling ceilings::device_read(cuda::Gpu& gpu)
{
    throw std::logic_error{gpu.missing()};
}
