#pragma once

#include "cuda/graph.hpp"
#include "cuda/stream.hpp"

#include <functional>
#include <limits>

namespace cuda {

/// Work that is timed on the device: some calls as one graph between two marks, so that no gap
/// before a launch counts. `stream` has to outlive it.
class TimedGraph
{
public:
    /// Captures `calls` calls of `issue`, as `Graph` does, and makes them once, which brings what
    /// they read into the cache.
    TimedGraph(Stream const& stream, ::std::function<void()> const& issue, int calls)
        : stream_{&stream}, calls_{calls}, graph_{stream, [&] {
                                                      start_.record_in_graph(stream);
                                                      for (int call = 0; call < calls; ++call) {
                                                          issue();
                                                      }
                                                      stop_.record_in_graph(stream);
                                                  }}
    {
        (*this)();
    }

    /// Seconds of a call, as timed now; the largest number if the device's clock stood still.
    double operator()() const
    {
        graph_.replay(*stream_);
        stream_->synchronize();
        double const taken = stop_.seconds_since(start_) / calls_;
        return taken > 0 ? taken : ::std::numeric_limits<double>::max();
    }

private:
    Stream const* stream_;
    int calls_;
    Event start_;
    Event stop_;
    Graph graph_;
};

} // namespace cuda
