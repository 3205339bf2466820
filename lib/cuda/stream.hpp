#pragma once

#include <cstddef>
#include <memory>

// The names of the CUDA runtime, so that this header needs none of the toolkit, which not every
// machine has.
struct CUstream_st;
struct CUevent_st;
using cudaStream_t = CUstream_st*;
using cudaEvent_t = CUevent_st*;

namespace cuda {

class Event;

/// A queue of work for the current device; a copy is the same queue. Copies of `Buffer` wait for
/// all its work, and its later work for them.
class Stream
{
public:
    Stream();

    /// A queue that somebody else has made and keeps for as long as this and its copies are used.
    explicit Stream(cudaStream_t theirs);

    /// For `<<<blocks, threads, bytes, stream.get()>>>`.
    cudaStream_t get() const { return stream_.get(); }

    /// Later work waits until another stream gets to `event`.
    void wait_for(Event const& event) const;

    /// Waits until all work is done. Throws `Error` if some of it failed.
    void synchronize() const;

private:
    ::std::shared_ptr<CUstream_st> stream_;
};

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

    /// Whether the device got there.
    bool is_reached() const;

    /// Seconds from `start` to this mark, in steps of about half a microsecond. The device must
    /// have got to both.
    double seconds_since(Event const& start) const;

    cudaEvent_t get() const { return event_.get(); }

private:
    ::std::shared_ptr<CUevent_st> event_;
};

} // namespace cuda
