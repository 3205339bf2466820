#pragma once

#include "cuda/stream.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>

namespace cuda {

/// Work that was captured from a stream, ready to be launched as one.
class Graph
{
public:
    /// Captures what `issue` puts into `stream`, `count` times in a row; nothing of it is executed.
    /// `issue` must neither wait for the device nor use another stream.
    Graph(Stream const& stream, std::function<void()> const& issue, std::size_t count = 1);

    /// Puts the work into `stream`.
    void replay(Stream const& stream) const;

private:
    struct Destroy
    {
        void operator()(cudaGraphExec_t graph) const
        {
            static_cast<void>(cudaGraphExecDestroy(graph));
        }
    };

    std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, Destroy> graph_;
};

} // namespace cuda
