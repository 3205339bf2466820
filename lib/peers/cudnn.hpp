#pragma once

#include "cuda/stream.hpp"
#include "dense/gpu/softmax.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace peers {

/// The softmax of cuDNN, where it is found.
class CuDnn
{
public:
    CuDnn();
    ~CuDnn();

    std::string missing; ///< why it is not available; empty if it is
    std::string version;

    /// As `dense::gpu::softmax`, by `cudnnSoftmaxForward` in its accurate variant.
    template <class T>
    void softmax(dense::gpu::Softmax what, T const* x, T* y, std::int64_t rows,
                 std::int64_t columns, cuda::Stream const& stream) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace peers
