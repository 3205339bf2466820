#include "spmv/steps/reference.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace spmv {

namespace {

/// Half the distance from 1 to the next number: the largest relative error of one rounding.
template <class T>
constexpr double unit_roundoff = std::numeric_limits<T>::epsilon() / 2;

/// A bound of (1 + u)^n - 1 for `T`, with the roundings of the reference itself added: n in its
/// sum, n in the magnitude, and a handful where both become double.
template <class T, class Wide>
double growth(double n)
{
    return std::expm1(n * (unit_roundoff<T> + 2 * unit_roundoff<Wide>)+8 * unit_roundoff<double>);
}

} // namespace

template <class T>
Expected expected(sparse::CsrView<T> const& a, std::span<T const> x)
{
    using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;
    auto const rows = static_cast<std::size_t>(a.rows);
    Expected result{std::vector<double>(rows), std::vector<double>(rows)};
#pragma omp parallel for schedule(dynamic, 1024)
    for (std::size_t i = 0; i < rows; ++i) {
        Wide sum = 0;
        Wide magnitude = 0;
        for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            Wide const product = static_cast<Wide>(a.values[p]) * static_cast<Wide>(x[a.col[p]]);
            sum += product;
            magnitude += std::abs(product);
        }
        double const n = a.row_ptr[i + 1] - a.row_ptr[i];
        double const relative = growth<T, Wide>(n);
        double const underflow = n * std::numeric_limits<T>::denorm_min() * (1 + relative);
        result.value[i] = static_cast<double>(sum);
        result.bound[i] = relative * static_cast<double>(magnitude) + underflow;
    }
    return result;
}

template Expected expected(sparse::CsrView<float> const&, std::span<float const>);
template Expected expected(sparse::CsrView<double> const&, std::span<double const>);

} // namespace spmv
