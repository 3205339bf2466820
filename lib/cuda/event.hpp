#pragma once

#include "cuda/handles.hpp"
#include "cuda/stream.hpp"

#include <memory>

namespace cuda {

/// A mark in the work of a stream, whose time the device takes when it gets there.
class Event
{
public:
    Event();

    /// Puts the mark behind all work of `stream`.
    void record(Stream const& stream);

    /// Puts the mark into the graph that `stream` is being captured for: its time is taken anew at
    /// each replay.
    void record_in_graph(Stream const& stream);

    /// Waits until the device got there.
    void synchronize() const;

    /// Seconds from `start` to this mark, in steps of about half a microsecond. The device must
    /// have got to both.
    double seconds_since(Event const& start) const;

    cudaEvent_t get() const { return event_.get(); }

private:
    struct Destroy
    {
        void operator()(cudaEvent_t event) const;
    };

    std::unique_ptr<CUevent_st, Destroy> event_;
};

} // namespace cuda
