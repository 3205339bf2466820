#pragma once

#include "base/half.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace bench {

using base::bf16;
using base::fp16;

/// What operands consist of. A double holds every value of each of them exactly.
template <class T>
concept Element = std::same_as<T, fp16> || std::same_as<T, bf16> || std::same_as<T, float> ||
    std::same_as<T, double> || std::same_as<T, std::int32_t> || std::same_as<T, std::uint8_t>;

/// Which of the two verifications the values are made for.
enum class Check
{
    exact, ///< non-zero integers of magnitude 1 to 3: sums are representable, equality is required
    bounded, ///< reals of magnitude 1/16 to 1: compared within a rounding bound
};

/// Fills arrays with reproducible values for one verification. Copyable; a seed gives the same
/// values on every machine.
class Fill
{
public:
    Fill(Check check, std::uint64_t seed) : check_{check}, seed_{seed} {}

    /// Overwrites every element of `values`. `T` is an `Element`. Integers are of magnitude 1 to 3
    /// in the exact check and to 1000, or 250 in a byte, in the other; bytes have no sign.
    template <class T>
    void operator()(std::span<T> values) const;

private:
    Check check_;
    std::uint64_t seed_;
};

/// What the harness does with elements whose type it does not know.
struct ElementType
{
    std::string_view name; ///< in records and on the command line: "fp16", "fp32", "int32", ...
    std::size_t bytes;
    /// A byte that makes an element, repeated, which no correct result has: NaN in every
    /// floating-point format, in integers what is far from small numbers.
    unsigned char poison;
    void (*to_double)(std::byte const* from, std::span<double> to);
    void (*fill)(Fill const& fill, std::byte* to, std::size_t count);
};

/// The description of `T`.
template <Element T>
ElementType const& element_type();

} // namespace bench
