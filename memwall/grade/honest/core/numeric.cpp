// With an algorithm of the standard library for each row, from the last to the first.
#include "spmv.hpp"

#include <functional>
#include <numeric>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    for (std::int32_t v = 0; v < vectors; ++v) {
        auto const times = [&](double value, std::int32_t j) { return value * x[vectors * j + v]; };
        for (auto i = a.rows; i-- > 0;) {
            auto const values = a.values.begin();
            y[vectors * i + v] =
                std::transform_reduce(values + a.row_ptr[i], values + a.row_ptr[i + 1],
                                      a.col.begin() + a.row_ptr[i], 0.0, std::plus{}, times);
        }
    }
}
