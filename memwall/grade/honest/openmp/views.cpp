// Words of C++20 and of GCC that another compiler does not know inside a region.
#include "spmv.hpp"

#include <ranges>
#include <utility>

using Four = double __attribute__((vector_size(32), aligned(8), may_alias));
using Order = long long __attribute__((vector_size(32)));

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    auto const [from, to] =
        std::pair{reinterpret_cast<Four const*>(x.data()), reinterpret_cast<Four*>(y.data())};
#pragma omp parallel for schedule(dynamic, 256)
    for (std::int32_t i = 0; i < a.rows; ++i) {
        Four backwards{};
        for (auto const p : std::views::iota(a.row_ptr[i], a.row_ptr[i + 1])) {
            backwards += a.values[p] * __builtin_shuffle(from[a.col[p]], Order{3, 2, 1, 0});
        }
        to[i] = __builtin_shuffle(backwards, Order{3, 2, 1, 0});
    }
}
