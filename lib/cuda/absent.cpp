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

class Gpu::Device
{
};

Gpu::Gpu() = default;
Gpu::~Gpu() = default;

std::string Gpu::missing() const
{
    return reason;
}

void add_studies(bench::Experiment&, Gpu&) {}

bench::Target& Gpu::memory()
{
    refuse();
}
Stream const& Gpu::stream()
{
    refuse();
}
bench::Clock& Gpu::events()
{
    refuse();
}
bench::Clock& Gpu::graph()
{
    refuse();
}
bench::Clock& Gpu::wall()
{
    refuse();
}

void Gpu::profile(bool)
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

void Stream::Destroy::operator()(cudaStream_t) const {}

} // namespace cuda
