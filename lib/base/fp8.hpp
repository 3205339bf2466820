#pragma once

#include <cstdint>

namespace base {

/// An 8-bit floating-point number of the Open Compute Project, E4M3: 4 bits of exponent, 3 of
/// fraction, no infinity, and one NaN of each sign. For storage: conversions and nothing else. The
/// bits are those of CUDA's `__nv_fp8_e4m3`.
struct e4m3
{
    std::uint8_t bits = 0;

    e4m3() = default;

    /// The nearest number, ties to even; of what lies beyond 448, infinity too, the largest.
    explicit e4m3(double value);

    /// Exact.
    explicit operator double() const;

    static constexpr double largest = 448;
};

} // namespace base
