#include "bench/fill.hpp"

#include "bench/all_processors.hpp"
#include "bench/random.hpp"

#include <algorithm>

namespace bench {

namespace {

template <class T>
T exact_value(Random& random)
{
    auto const bits = random.next();
    auto const magnitude = static_cast<T>(1 + (bits >> 32) % 3);
    return (bits & 1) != 0 ? magnitude : -magnitude;
}

/// Magnitudes stay above 1/16, so that a product that was left out is never lost in the bound of a
/// short row.
template <class T>
T bounded_value(Random& random)
{
    auto const magnitude = static_cast<T>(0.0625 + 0.9375 * random.unit());
    return (random.next() & 1) != 0 ? magnitude : -magnitude;
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
            for (T& value : values.subspan(c * chunk, std::min(chunk, values.size() - c * chunk))) {
                value = check_ == Check::exact ? exact_value<T>(random) : bounded_value<T>(random);
            }
        }
    });
}

template void Fill::operator()(std::span<float>) const;
template void Fill::operator()(std::span<double>) const;

} // namespace bench
