#include "bench/element.hpp"

#include "base/random.hpp"
#include "bench/all_processors.hpp"

#include <algorithm>

namespace bench {

namespace {

template <class T>
constexpr std::string_view name = std::same_as<T, fp16>           ? "fp16"
                                  : std::same_as<T, bf16>         ? "bf16"
                                  : std::same_as<T, float>        ? "fp32"
                                  : std::same_as<T, double>       ? "fp64"
                                  : std::same_as<T, std::int32_t> ? "int32"
                                                                  : "uint8";

template <class T>
void to_double(std::byte const* from, std::span<double> to)
{
    auto const* const values = reinterpret_cast<T const*>(from);
    on_all_processors(to.size(), [=](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) {
            to[i] = static_cast<double>(values[i]);
        }
    });
}

template <class T>
void fill_with(Fill const& fill, std::byte* to, std::size_t count)
{
    fill(std::span<T>{reinterpret_cast<T*>(to), count});
}

/// An integer of magnitude 1 to `most`, with a sign where the type has one.
template <class T>
T integer(base::Random& random, std::uint64_t most)
{
    auto const bits = random.next();
    auto const magnitude = static_cast<double>(1 + (bits >> 32) % most);
    return static_cast<T>((bits & 1) != 0 || std::unsigned_integral<T> ? magnitude : -magnitude);
}

/// Magnitudes stay above 1/16, so that a product that was left out is never lost in the bound of a
/// short row.
template <class T>
T real(base::Random& random)
{
    auto const magnitude = 0.0625 + 0.9375 * random.unit();
    return static_cast<T>((random.next() & 1) != 0 ? magnitude : -magnitude);
}

template <class T>
T value(Check check, base::Random& random)
{
    if (check == Check::exact) {
        return integer<T>(random, 3);
    }
    if constexpr (std::integral<T>) {
        return integer<T>(random, sizeof(T) == 1 ? 250 : 1000);
    } else {
        return real<T>(random);
    }
}

} // namespace

template <class T>
void Fill::operator()(std::span<T> values) const
{
    constexpr std::size_t chunk = 1 << 16;
    on_all_processors(values.size(), [&](std::size_t begin, std::size_t end) {
        auto const first_chunk = (begin + chunk - 1) / chunk; // those that begin in the range
        for (std::size_t c = first_chunk; c * chunk < end; ++c) {
            base::Random random{base::Random{seed_ + c}.next()};
            for (T& one : values.subspan(c * chunk, std::min(chunk, values.size() - c * chunk))) {
                one = value<T>(check_, random);
            }
        }
    });
}

template <Element T>
ElementType const& element_type()
{
    constexpr unsigned char poison = std::integral<T> ? 0x80 : 0xff;
    static constexpr ElementType type{name<T>, sizeof(T), poison, to_double<T>, fill_with<T>};
    return type;
}

template void Fill::operator()(std::span<fp16>) const;
template void Fill::operator()(std::span<bf16>) const;
template void Fill::operator()(std::span<float>) const;
template void Fill::operator()(std::span<double>) const;
template void Fill::operator()(std::span<std::int32_t>) const;
template void Fill::operator()(std::span<std::uint8_t>) const;

template ElementType const& element_type<fp16>();
template ElementType const& element_type<bf16>();
template ElementType const& element_type<float>();
template ElementType const& element_type<double>();
template ElementType const& element_type<std::int32_t>();
template ElementType const& element_type<std::uint8_t>();

} // namespace bench
