#pragma once

#include <bit>
#include <cstdint>

/// \file
/// 16-bit floating point for storage: conversions and nothing else. The bits are those of CUDA's
/// `__half` and `__nv_bfloat16`.

namespace base {

/// Binary16 of IEEE 754: 5 bits of exponent, 10 of fraction.
struct fp16
{
    std::uint16_t bits = 0;

    fp16() = default;

    /// The nearest number, ties to even; infinity beyond 65504.
    explicit fp16(double value);

    /// Exact.
    explicit operator double() const;
    explicit operator float() const { return static_cast<float>(static_cast<double>(*this)); }
};

/// The upper half of a binary32: 8 bits of exponent, 7 of fraction.
struct bf16
{
    std::uint16_t bits = 0;

    bf16() = default;

    /// The nearest number, ties to even.
    explicit bf16(double value);

    /// Exact.
    explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }
    explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};

} // namespace base
