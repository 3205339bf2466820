#pragma once

#include "bench/output.hpp"
#include "cuda/buffer.hpp"
#include "cuda/pinned.hpp"
#include "cuda/stream.hpp"

#include <memory>

namespace cuda {

/// Adapts an array of the device that variants write in `stream`; both must outlive the adapter.
/// `T` is float or double. The poison is NaN; it waits for nobody, so that a flush and the timed
/// call can stand in the queue behind it.
template <class T>
std::unique_ptr<bench::Output> output(Buffer<T>& values, Stream const& stream);

/// Adapts an array of the host that the device writes in `stream`: both poison and fetch wait for
/// what was put there before.
template <class T>
std::unique_ptr<bench::Output> output(Pinned<T>& values, Stream const& stream);

} // namespace cuda
