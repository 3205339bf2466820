#include "points.hpp"

#include "ceilings/probes.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace partitioning {

bench::AxisValues message_bytes()
{
    using Bytes = std::int64_t;
    bench::AxisValues values{Bytes{8},      Bytes{512},     Bytes{4096},
                             Bytes{32'768}, Bytes{262'144}, Bytes{1'048'576}};
    values.require = [](bench::Parameter const& value) {
        if (auto const bytes = std::get<Bytes>(value); bytes <= 0 || bytes % 8 != 0) {
            throw std::invalid_argument{"--bytes: found " + std::to_string(bytes) +
                                        ", expected a multiple of 8"};
        }
    };
    return values;
}

std::int64_t weak_side(int ranks)
{
    constexpr double rows_of_rank = 100e3;
    return std::llround(std::cbrt(rows_of_rank * ranks));
}

bench::Ceiling read_on_all_ranks(int ranks, int threads)
{
    auto ceiling = ceilings::read_beyond(
        bench::host().cache_bytes() / static_cast<std::size_t>(ranks), threads);
    ceiling.work.bytes *= ranks;
    return ceiling;
}

} // namespace partitioning
