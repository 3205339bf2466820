#include "bench/fill.hpp"

#include "base/half.hpp"
#include "bench/all_processors.hpp"
#include "bench/random.hpp"

#include <algorithm>
#include <concepts>

namespace bench {

namespace {

/// An integer of magnitude 1 to `most`, with a sign where the type has one.
template <class T>
T integer(Random& random, std::uint64_t most)
{
    auto const bits = random.next();
    auto const magnitude = static_cast<double>(1 + (bits >> 32) % most);
    return static_cast<T>((bits & 1) != 0 || std::unsigned_integral<T> ? magnitude : -magnitude);
}

/// Magnitudes stay above 1/16, so that a product that was left out is never lost in the bound of a
/// short row.
template <class T>
T real(Random& random)
{
    auto const magnitude = 0.0625 + 0.9375 * random.unit();
    return static_cast<T>((random.next() & 1) != 0 ? magnitude : -magnitude);
}

template <class T>
T value(Check check, Random& random)
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
            Random random{Random{seed_ + c}.next()};
            for (T& one : values.subspan(c * chunk, std::min(chunk, values.size() - c * chunk))) {
                one = value<T>(check_, random);
            }
        }
    });
}

template void Fill::operator()(std::span<base::fp16>) const;
template void Fill::operator()(std::span<base::bf16>) const;
template void Fill::operator()(std::span<float>) const;
template void Fill::operator()(std::span<double>) const;
template void Fill::operator()(std::span<std::int32_t>) const;
template void Fill::operator()(std::span<std::uint8_t>) const;

} // namespace bench
