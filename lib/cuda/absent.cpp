#include "cuda/buffer.hpp"
#include "cuda/gpu.hpp"

#include <stdexcept>

// Built in place of this room where there is no nvcc: a GPU that is missing, so that programs which
// also measure one need neither header nor library of the toolkit. What follows `missing` is never
// called.

namespace cuda {

namespace {

constexpr char const* reason = "built without nvcc";

[[noreturn]] void refuse()
{
    throw std::logic_error{reason};
}

} // namespace

std::string Gpu::missing() const
{
    return reason;
}

void add_studies(bench::Experiment&, Gpu&) {}

bench::Target& Gpu::memory()
{
    refuse();
}
Gpu::Queue& Gpu::queue()
{
    refuse();
}
std::shared_ptr<void const> Gpu::pin(bench::ConstBytes)
{
    refuse();
}

void* allocate(std::size_t)
{
    refuse();
}
void release(void*) {}

} // namespace cuda
