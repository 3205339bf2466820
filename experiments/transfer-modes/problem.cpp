#include "problem.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>

namespace transfer_modes {

void Problem::expect(bench::Output<float> const& y) const
{
    y.expect(1, [x = x](std::size_t first, std::span<double> value, std::span<double> bound) {
        auto const from = x.on().subspan(first, value.size());
        std::ranges::copy(from, value.begin());
        std::ranges::fill(bound, 0.0);
    });
}

HostArray Problem::filled(Variant& variant, HostArray const& array) const
{
    auto const fill = [x = x, array] {
        std::ranges::copy(x.on().first(array.span.size()), array.span.begin());
    };
    fill();
    variant.on_refill(fill);
    return array;
}

bench::AxisValues sizes(std::vector<std::int64_t> const& tiny,
                        std::vector<std::int64_t> const& quick,
                        std::vector<std::int64_t> const& full)
{
    bench::AxisValues values;
    values.tiny.assign(tiny.begin(), tiny.end());
    values.quick.assign(quick.begin(), quick.end());
    values.full.assign(full.begin(), full.end());
    values.require = [](bench::Parameter const& value) {
        auto const bytes = std::get<std::int64_t>(value);
        if (bytes < 16 || bytes % 16 != 0) {
            throw std::invalid_argument{"--bytes: expected a multiple of 16, not " +
                                        std::to_string(bytes)};
        }
    };
    return values;
}

bench::AxisValues mebibytes(std::int64_t tiny, std::int64_t quick, std::int64_t full)
{
    bench::AxisValues values;
    values.tiny = {tiny};
    values.quick = {quick};
    values.full = {full};
    return values;
}

} // namespace transfer_modes
