#include "base/half.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace base {

namespace {

/// A floating-point format of 16 bits, the sign among them.
struct Layout
{
    int fraction_bits;
    int least_exponent; ///< of normal numbers, as of `std::ilogb`
    int most_exponent;
};

constexpr Layout binary16{10, -14, 15};
constexpr Layout brain16{7, -126, 127};

/// The nearest number of the format, in steps of its own spacing near `value`; the addition of
/// exponent and fraction carries where rounding reaches the next power of two.
std::uint16_t rounded(double value, Layout const& to)
{
    auto const infinity = static_cast<unsigned>(to.most_exponent - to.least_exponent + 2)
                          << to.fraction_bits;
    unsigned const sign = std::signbit(value) ? 0x8000u : 0u;
    double const magnitude = std::abs(value);
    if (std::isnan(value)) {
        return static_cast<std::uint16_t>(sign | infinity | 1u << (to.fraction_bits - 1));
    }
    if (magnitude == 0) {
        return static_cast<std::uint16_t>(sign);
    }
    if (std::isinf(value) || std::ilogb(magnitude) > to.most_exponent) {
        return static_cast<std::uint16_t>(sign | infinity);
    }
    int const exponent = std::max(std::ilogb(magnitude), to.least_exponent);
    // An integer, exact in double precision but for this one rounding, to even as the mode is.
    auto const steps =
        static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, to.fraction_bits - exponent)));
    auto const biased = static_cast<unsigned>(exponent - to.least_exponent) << to.fraction_bits;
    return static_cast<std::uint16_t>(sign | (biased + steps));
}

} // namespace

fp16::fp16(double value) : bits{rounded(value, binary16)} {}

fp16::operator double() const
{
    unsigned const exponent = bits >> 10 & 31u;
    unsigned const fraction = bits & 1023u;
    double magnitude = 0;
    if (exponent == 31) {
        magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                                  : std::numeric_limits<double>::quiet_NaN();
    } else if (exponent == 0) {
        magnitude = std::ldexp(fraction, -24);
    } else {
        magnitude = std::ldexp(fraction + 1024.0, static_cast<int>(exponent) - 25);
    }
    return (bits & 0x8000u) != 0 ? -magnitude : magnitude;
}

bf16::bf16(double value) : bits{rounded(value, brain16)} {}

} // namespace base
