#include "points.hpp"

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

bench::AxisValues points(sparse::Datasets const& datasets, int ranks)
{
    bench::AxisValues values{datasets.set("ranks")};
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

std::int64_t weak_side(int ranks)
{
    constexpr double rows_of_rank = 100e3;
    return std::llround(std::cbrt(rows_of_rank * ranks));
}

} // namespace partitioning
