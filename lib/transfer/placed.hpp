#pragma once

#include <cstddef>
#include <span>

namespace transfer {

/// Memory of the host on one of its NUMA nodes, in whole pages, with a value (zero).
class Placed
{
public:
    /// Throws std::system_error if the node does not exist or has not enough memory.
    Placed(std::size_t bytes, int node);
    ~Placed();
    Placed(Placed const&) = delete;
    Placed& operator=(Placed const&) = delete;

    std::span<std::byte> span() const { return {data_, bytes_}; }

private:
    std::byte* data_;
    std::size_t bytes_;
};

} // namespace transfer
