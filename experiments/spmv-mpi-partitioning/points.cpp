#include "points.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <stdexcept>

namespace partitioning {

namespace {

/// From eight bytes, which cost nothing but latency, to a megabyte.
constexpr int message_bytes[] = {8, 512, 4096, 32'768, 262'144, 1'048'576};

} // namespace

std::size_t ring_bytes(std::string_view point)
{
    auto const digits = point.substr(ring.size());
    std::size_t bytes = 0;
    auto const [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
    if (status != std::errc{} || end != digits.data() + digits.size() || bytes % 8 != 0 ||
        bytes == 0) {
        throw std::invalid_argument{"--matrix: found '" + std::string{point} +
                                    "', expected ring-BYTES with a multiple of 8"};
    }
    return bytes;
}

bench::AxisValues points(sparse::Datasets const& datasets, std::size_t cache_bytes, int ranks)
{
    bench::AxisValues values{datasets.set_beyond_cache("ranks", cache_bytes)};
    for (auto* const profile : {&values.tiny, &values.quick, &values.full}) {
        profile->emplace_back(std::string{weak_scaling});
        for (int const bytes : message_bytes) {
            if (ranks > 1) {
                profile->emplace_back(std::string{ring} + std::to_string(bytes));
            }
        }
    }
    return values;
}

std::int64_t weak_side(std::size_t cache_bytes, int ranks)
{
    constexpr double bytes_of_row = 27 * 12.0; // values and columns in double precision
    auto const rows = std::clamp(static_cast<double>(cache_bytes) / bytes_of_row, 64e3, 512e3);
    return std::llround(std::cbrt(rows * ranks));
}

} // namespace partitioning
