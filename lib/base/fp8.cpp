#include "base/fp8.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace base {

namespace {

constexpr int fraction_bits = 3;
constexpr int least_exponent = -6; // of normal numbers, as of `std::ilogb`
constexpr unsigned nan_bits = 0x7f;

} // namespace

e4m3::e4m3(double value)
{
    unsigned const sign = std::signbit(value) ? 0x80u : 0u;
    if (std::isnan(value)) {
        bits = static_cast<std::uint8_t>(sign | nan_bits);
        return;
    }
    double const magnitude = std::min(std::abs(value), largest);
    int const exponent =
        magnitude == 0 ? least_exponent : std::max(std::ilogb(magnitude), least_exponent);
    // An integer, exact but for this one rounding, to even as the mode is. The addition carries
    // where rounding reaches the next power of two.
    auto const steps =
        static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent)));
    auto const biased = static_cast<unsigned>(exponent - least_exponent) << fraction_bits;
    bits = static_cast<std::uint8_t>(sign | (biased + steps));
}

e4m3::operator double() const
{
    unsigned const exponent = bits >> fraction_bits & 15u;
    unsigned const fraction = bits & 7u;
    double magnitude = std::numeric_limits<double>::quiet_NaN();
    if ((bits & nan_bits) != nan_bits) {
        magnitude = exponent == 0 ? std::ldexp(fraction, least_exponent - fraction_bits)
                                  : std::ldexp(fraction + 8.0, static_cast<int>(exponent) - 10);
    }
    return (bits & 0x80u) != 0 ? -magnitude : magnitude;
}

} // namespace base
