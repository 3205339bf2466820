#pragma once

#include "cuda/stream.hpp"

#include <cstddef>
#include <functional>
#include <memory>

struct CUgraphExec_st; // a name of the CUDA runtime

namespace cuda {

/// Work that was captured from a stream, ready to be launched as one.
class Graph
{
public:
    /// Captures what `issue` puts into `stream`, `count` times in a row; nothing of it is executed.
    /// `issue` must neither wait for the device nor use another stream.
    Graph(Stream const& stream, ::std::function<void()> const& issue, ::std::size_t count = 1);

    /// Puts the work into `stream`.
    void replay(Stream const& stream) const;

private:
    ::std::shared_ptr<CUgraphExec_st> graph_;
};

} // namespace cuda
