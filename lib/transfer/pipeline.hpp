#pragma once

#include "cuda/buffer.hpp"
#include "cuda/stream.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace transfer {

/// Chunks on their way to the device, through a kernel and back, as bytes: what `Pipeline` does for
/// elements of any type.
class ChunkPipeline
{
public:
    /// Puts the work on `count` elements from `first` on into the stream.
    using Kernel = std::function<void(std::byte const* in, std::byte* out, std::size_t first,
                                      std::size_t count, cudaStream_t)>;

    /// `chunk` elements of so many bytes in each of `slots` places on the device. Throws
    /// std::invalid_argument if there is none or no memory has so many bytes, and `cuda::Error` if
    /// the device has not enough memory.
    ChunkPipeline(std::size_t chunk, std::size_t in_bytes, std::size_t out_bytes,
                  std::size_t slots);

    /// Behind the work of `stream`, whose next work waits for the last chunk. Throws
    /// std::invalid_argument for elements at a null pointer, and if some of `out` lies in memory of
    /// `in` that is not just its own place: what was written back could be read as input.
    void run(std::byte const* in, std::byte* out, std::size_t count, Kernel const& kernel,
             cudaStream_t stream);

private:
    /// Memory of the device for a chunk, and marks behind what happens to it.
    struct Slot
    {
        Slot(std::size_t in_bytes, std::size_t out_bytes) : in{in_bytes}, out{out_bytes} {}

        cuda::Buffer<std::byte> in;
        cuda::Buffer<std::byte> out;
        cuda::Event arrived;  ///< the input is there
        cuda::Event computed; ///< the input is no longer needed, the output is there
        cuda::Event left;     ///< the output is no longer needed
    };

    void issue(std::byte const* in, std::byte* out, std::size_t count, Kernel const& kernel);

    std::size_t chunk_;
    std::size_t in_bytes_;
    std::size_t out_bytes_;
    std::vector<Slot> slots_;
    cuda::Stream to_device_; ///< one stream for each engine
    cuda::Stream compute_;
    cuda::Stream to_host_;
    cuda::Event begun_;
    cuda::Event ended_;
};

/// Runs a kernel over an array on the host, whose pages must be locked (`cuda::Pinned`,
/// `cuda::Registered`): while a chunk is computed, the next one comes and the one before goes back,
/// so that both directions of the bus are busy. It may be captured in a graph. Calls come one after
/// the other, or all in one stream.
template <class In, class Out = In>
class Pipeline
{
public:
    /// A call holds three chunks of both arrays on the device, or as many as `slots` says. Throws
    /// std::invalid_argument if `chunk`, in elements, or `slots` is 0 or no memory has so many
    /// bytes, and `cuda::Error` if the device has not enough memory.
    explicit Pipeline(std::size_t chunk, std::size_t slots = 3)
        : chunks_{chunk, sizeof(In), sizeof(Out), slots}
    {
    }

    /// Calls `kernel(in, out, first, stream)` for each chunk: with spans in the device's memory,
    /// the place of their first element in the whole, and the stream to work in. All of it comes
    /// behind the work of `stream`, and its next work waits for the last chunk: the call may return
    /// before `out` is there. `out` may be `in` itself, where both are of one type. Throws
    /// std::invalid_argument if the sizes differ, if `out` overlaps `in` in any other way, and for
    /// null pointers to elements; and what `kernel` throws, when nothing is being copied any more.
    template <class Kernel>
    void operator()(std::span<In const> in, std::span<Out> out, Kernel const& kernel,
                    cudaStream_t stream)
    {
        if (in.size() != out.size()) {
            throw std::invalid_argument{"transfer::Pipeline: found " + std::to_string(in.size()) +
                                        " elements to read and " + std::to_string(out.size()) +
                                        " to write, expected as many"};
        }
        chunks_.run(
            reinterpret_cast<std::byte const*>(in.data()), reinterpret_cast<std::byte*>(out.data()),
            in.size(),
            [&](std::byte const* from, std::byte* to, std::size_t first, std::size_t count,
                cudaStream_t lane) {
                kernel(std::span{reinterpret_cast<In const*>(from), count},
                       std::span{reinterpret_cast<Out*>(to), count}, first, lane);
            },
            stream);
    }

private:
    ChunkPipeline chunks_;
};

} // namespace transfer
