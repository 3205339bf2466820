#pragma once

#include "host_array.hpp"
#include "problem.hpp"

#include "cuda/stream.hpp"
#include "transfer/staged_copy.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

/// Ways to move an array between host and device, and what compares them.
namespace transfer_modes {

/// What one copy has to do: so many elements on the device and on the host.
struct Ends
{
    float* device;
    float* host;
    std::size_t count;

    std::size_t bytes() const { return count * sizeof(float); }
};

/// A way to copy, in each direction, in the order of a stream. It may return before it is done.
struct Way
{
    std::function<void(Ends const&, cuda::Stream const&)> to_device;
    std::function<void(Ends const&, cuda::Stream const&)> to_host;
};

//! [copy]
/// cudaMemcpyAsync: by a copy engine where pages are locked, else by the runtime's own buffers.
inline Way copy_engine()
{
    return {[](Ends const& ends, cuda::Stream const& stream) {
                cuda::check(cudaMemcpyAsync(ends.device, ends.host, ends.bytes(),
                                            cudaMemcpyHostToDevice, stream.get()));
            },
            [](Ends const& ends, cuda::Stream const& stream) {
                cuda::check(cudaMemcpyAsync(ends.host, ends.device, ends.bytes(),
                                            cudaMemcpyDeviceToHost, stream.get()));
            }};
}
//! [copy]

/// Our own copy of pageable memory.
Way staged(transfer::StagedCopyOptions const& options);

/// A contender: where the host's array lies, and who copies.
struct Mode
{
    std::string name;
    std::string excerpt;
    std::function<HostArray(std::size_t)> array;
    std::function<Way()> way = copy_engine;
    std::string group = "own";
    bool held = false;     ///< timed as nvbandwidth does
    bool both_ways = true; ///< two of these may be under way at once
};

/// Compares modes in one direction: "to_device", "to_host" or "both".
void compare(Trial& trial, cuda::Gpu& gpu, std::vector<Mode> const& modes);

} // namespace transfer_modes
