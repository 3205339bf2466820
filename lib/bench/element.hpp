#pragma once

#include "base/half.hpp"
#include "bench/fill.hpp"

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
