#pragma once

#include "spmv/device/csr.hpp"

#include <cstdint>

namespace spmv::gpu {

/// Who fetches the next rows from the counter that all threads share.
enum class Fetch
{
    vector,  ///< each vector one row
    warp,    ///< one lane of a warp, a row for each of the warp's vectors: as article 1 tells
    chunked, ///< one lane of a warp, 16 times as many
};

/// LightSpMV (Liu and Schmidt 2015), as article 1 tells it: as many threads as are resident at once
/// fetch rows from a counter until none is left, `lanes` threads (2, 4, 8, 16 or 32) for each row.
class DynamicRows
{
public:
    DynamicRows() : counter_(1) {}

    /// Sets the counter to 0, which is part of every multiply, and multiplies. Throws
    /// `std::invalid_argument` for another number of lanes.
    template <class T>
    void operator()(Fetch fetch, int lanes, CsrView<T> const& a, T const* x, T* y,
                    cudaStream_t stream) const;

    std::size_t bytes() const { return counter_.bytes(); }

private:
    mutable ::cuda::Buffer<std::int32_t> counter_; ///< scratch of the running multiply
};

} // namespace spmv::gpu
