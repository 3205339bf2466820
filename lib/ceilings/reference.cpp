#include "ceilings/reference.hpp"

#include "ceilings/fma.hpp"

#include <omp.h>

#include <cmath>
#include <limits>

namespace ceilings {

namespace {

template <class T>
constexpr double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());

} // namespace

template <class T>
Expected dot_reference(std::span<T const> a, std::span<T const> b)
{
    long double sum = 0;
    double magnitude = 0;
#pragma omp parallel for schedule(static) num_threads(omp_get_num_procs())                         \
    reduction(+ : sum, magnitude)
    for (std::size_t i = 0; i < a.size(); ++i) {
        auto const product = static_cast<long double>(a[i]) * b[i];
        sum += product;
        magnitude += std::abs(static_cast<double>(product));
    }
    auto const roundings = static_cast<double>(a.size() + 1);
    return {{static_cast<double>(sum)}, {roundings * epsilon<T> * magnitude}};
}

template <class T>
Expected copy_reference(std::span<T const> a)
{
    return {{a.begin(), a.end()}, std::vector<double>(a.size())};
}

template <class T>
Expected triad_reference(std::span<T const> b, T scalar, std::span<T const> c)
{
    Expected expected{std::vector<double>(b.size()), std::vector<double>(b.size())};
#pragma omp parallel for schedule(static) num_threads(omp_get_num_procs())
    for (std::size_t i = 0; i < b.size(); ++i) {
        auto const product = static_cast<double>(scalar) * c[i];
        expected.value[i] = b[i] + product;
        expected.bound[i] =
            epsilon<T> * (std::abs(static_cast<double>(b[i])) + 2 * std::abs(product));
    }
    return expected;
}

template <class T>
Expected fma_reference(std::span<T const> start, T x, T y, int threads)
{
    auto const steps = static_cast<double>(fma_steps);
    auto const product = static_cast<double>(x) * y;
    Expected expected;
    for (int thread = 0; thread < threads; ++thread) {
        for (double const first : start) {
            expected.value.push_back(first + steps * product);
            expected.bound.push_back(steps * epsilon<T> *
                                     (std::abs(first) + steps * std::abs(product)));
        }
    }
    return expected;
}

Expected counted(std::size_t count, double value)
{
    return {std::vector<double>(count, value), std::vector<double>(count)};
}

template Expected dot_reference(std::span<float const>, std::span<float const>);
template Expected dot_reference(std::span<double const>, std::span<double const>);
template Expected copy_reference(std::span<float const>);
template Expected copy_reference(std::span<double const>);
template Expected triad_reference(std::span<float const>, float, std::span<float const>);
template Expected triad_reference(std::span<double const>, double, std::span<double const>);
template Expected fma_reference(std::span<float const>, float, float, int);
template Expected fma_reference(std::span<double const>, double, double, int);

} // namespace ceilings
