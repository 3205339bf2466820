#pragma once

#include <memory>
#include <span>
#include <vector>

namespace bench {

/// Something a variant writes. `lib/cuda` adapts device memory.
class Output
{
public:
    virtual ~Output() = default;

    /// Overwrites every element with a pattern that no correct result has.
    virtual void poison() = 0;

    /// Puts the elements in place of those of `to`, whose memory is used again.
    virtual void fetch(std::vector<double>& to) = 0;
};

/// Adapts an array on the host, which must outlive the adapter. `T` is float or double; the poison
/// is NaN.
template <class T>
std::unique_ptr<Output> host_output(std::span<T> values);

} // namespace bench
