#include "ceilings/device_kernels.hpp"
#include "ceilings/device_random.hpp"
#include "cuda/device.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ceilings {

namespace {

/// A sum and the sum of magnitudes.
struct Sum
{
    double value = 0;
    double magnitude = 0;

    void add(double term)
    {
        value += term;
        magnitude += std::abs(term);
    }
};

/// The largest error of adding `terms` elements in any order.
template <class T>
double rounding(double terms, double magnitude)
{
    return terms * static_cast<double>(std::numeric_limits<T>::epsilon()) * magnitude;
}

/// `count` equal sums, each of `times` repetitions of all `values`.
template <class T>
Expected repeated(std::span<T const> values, double times, std::size_t count)
{
    Sum once;
    for (auto const value : values) {
        once.add(value);
    }
    auto const terms = times * static_cast<double>(values.size());
    return {std::vector<double>(count, times * once.value),
            std::vector<double>(count, rounding<T>(terms, times * once.magnitude))};
}

} // namespace

std::size_t beyond_l2()
{
    return std::max(std::size_t{1} << 30, std::bit_ceil(4 * cuda::l2_bytes()));
}

std::size_t within_l2()
{
    return std::bit_floor(std::max(std::size_t{4096}, cuda::l2_bytes() / 3 * 2));
}

template <class T>
Expected device_read_reference(std::span<T const> values, unsigned blocks, unsigned steps)
{
    constexpr auto lanes = 16 / sizeof(T); // the elements of a block's step are whole periods
    return repeated(values, static_cast<double>(steps * device_threads * lanes / period), blocks);
}

template <class T>
Expected device_gather_reference(std::span<T const> values, unsigned blocks, unsigned steps)
{
    auto const terms = std::uint32_t{device_threads} * steps;
    Expected expected{std::vector<double>(blocks), std::vector<double>(blocks)};
#pragma omp parallel for schedule(static)
    for (unsigned block = 0; block < blocks; ++block) {
        Sum sum;
        for (std::uint32_t i = 0; i < terms; ++i) {
            sum.add(values[scattered(block * terms + i) % period]);
        }
        expected.value[block] = sum.value;
        expected.bound[block] = rounding<T>(terms, sum.magnitude);
    }
    return expected;
}

template <class T>
Expected device_shared_reference(std::span<T const> values, unsigned blocks, unsigned steps)
{
    auto const times = static_cast<double>(steps) * device_threads / shared_words;
    return repeated(values, times, blocks);
}

template <class T>
Expected device_fma_reference(std::span<T const> start, T x, T y, std::size_t sums)
{
    auto const product = static_cast<double>(x) * y;
    auto const steps = static_cast<double>(device_fma_steps);
    Sum sum;
    for (auto const value : start) {
        sum.add(value);
    }
    auto const added = device_chains * steps * product;
    auto const magnitude = sum.magnitude + std::abs(added);
    return {std::vector<double>(sums, sum.value + added),
            std::vector<double>(sums, rounding<T>(steps + device_chains, magnitude))};
}

#define INSTANTIATE(T)                                                                             \
    template Expected device_read_reference(std::span<T const>, unsigned, unsigned);               \
    template Expected device_gather_reference(std::span<T const>, unsigned, unsigned);             \
    template Expected device_shared_reference(std::span<T const>, unsigned, unsigned);             \
    template Expected device_fma_reference(std::span<T const>, T, T, std::size_t);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

} // namespace ceilings
