// A second thread that it starts itself.
#include "row.hpp"
#include "spmv.hpp"

#include <thread>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    auto const middle = a.rows / 2;
    std::thread other{[&] {
        for (auto i = middle; i < a.rows; ++i) {
            multiply_row(a, i, x.data(), y.data());
        }
    }};
    for (std::int32_t i = 0; i < middle; ++i) {
        multiply_row(a, i, x.data(), y.data());
    }
    other.join();
}
