#pragma once

#include "cuda/buffer.hpp"
#include "cuda/error.hpp"
#include "cuda/pinned.hpp"
#include "transfer/kernels.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

/// What tests of transfers share.
namespace transfer::testing {

inline std::vector<float> counted(std::size_t size)
{
    std::vector<float> values(size);
    for (std::size_t i = 0; i < size; ++i) {
        values[i] = static_cast<float>(i % 9973);
    }
    return values;
}

inline std::vector<float> doubled(std::span<float const> values)
{
    std::vector<float> twice(values.size());
    std::ranges::transform(values, twice.begin(), [](float value) { return 2 * value; });
    return twice;
}

/// Whether the device still does what it is told.
inline bool is_usable()
{
    auto const host = counted(1000);
    cuda::Stream const stream;
    cuda::Buffer<float> const from{std::span<float const>{host}};
    cuda::Buffer<float> to{host.size()};
    transfer::copy_by_cores(from.data(), to.data(), host.size(), 4, stream.get());
    stream.synchronize();
    return to.download() == host;
}

/// An array in locked pages; of none, as a call with nothing to do has it.
struct Locked
{
    explicit Locked(std::vector<float> const& values)
        : pages{std::max<std::size_t>(1, values.size())}, span{pages.span().first(values.size())}
    {
        std::ranges::copy(values, span.begin());
    }

    std::vector<float> values() const { return {span.begin(), span.end()}; }

    cuda::Pinned<float> pages;
    std::span<float> span;
};

/// The code of the error that `action` throws, or cudaSuccess.
template <class Action>
cudaError_t error_of(Action const& action)
{
    try {
        action();
    } catch (cuda::Error const& error) {
        CHECK(std::string{error.what()}.find(cudaGetErrorName(error.code())) == 0);
        return error.code();
    }
    return cudaSuccess;
}

} // namespace transfer::testing
