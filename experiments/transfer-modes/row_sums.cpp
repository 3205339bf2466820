#include "row_sums.hpp"

#include "bench/all_processors.hpp"

#include <cmath>
#include <vector>

namespace transfer_modes {

bench::Expected sums_of_rows(std::span<float const> x, std::size_t width, std::size_t every,
                             std::span<float const> b)
{
    auto const rows = (x.size() / width + every - 1) / every;
    bench::Expected expected{std::vector<double>(rows), std::vector<double>(rows)};
    bench::on_all_processors(rows * width, [&](std::size_t begin, std::size_t end) {
        for (std::size_t r = (begin + width - 1) / width; r * width < end; ++r) {
            double size = 0;
            for (std::size_t i = r * every * width; i < (r * every + 1) * width; ++i) {
                auto const term =
                    static_cast<double>(x[i]) * (b.empty() ? 1 : static_cast<double>(b[i]));
                expected.value[r] += term;
                size += std::abs(term);
            }
            expected.bound[r] = size * static_cast<double>(width) * 0x1p-53;
        }
    });
    return expected;
}

} // namespace transfer_modes
