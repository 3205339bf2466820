#pragma once

#include "cuda/buffer.hpp"

#include <functional>
#include <memory>

namespace shared_memory_banks {

/// Cycles of the last call, for one of so many accesses.
inline std::function<double()> cycles_of(std::shared_ptr<cuda::Buffer<long long>> cycles,
                                         double accesses)
{
    return [=] { return static_cast<double>(cycles->download().front()) / accesses; };
}

} // namespace shared_memory_banks
