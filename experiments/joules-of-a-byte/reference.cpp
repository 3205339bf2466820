#include "kernels.hpp"

#include "bench/all_processors.hpp"

#include <cmath>
#include <type_traits>

namespace joules {

namespace {

/// One rounding, as the device makes it.
float fused(float a, float x, float y)
{
    return std::fma(a, x, y);
}
double fused(double a, double x, double y)
{
    return std::fma(a, x, y);
}
base::fp16 fused(base::fp16 a, base::fp16 x, base::fp16 y)
{
    // Exact: a product of 22 bits, and a sum of numbers of which the least bits are 2^-48 and more.
    return base::fp16{static_cast<double>(a) * static_cast<double>(x) + static_cast<double>(y)};
}
std::int32_t fused(std::int32_t a, std::int32_t x, std::int32_t y)
{
    auto const bits = [](std::int32_t value) { return static_cast<std::uint32_t>(value); };
    return static_cast<std::int32_t>(bits(a) * bits(x) + bits(y));
}

template <class T>
T sum_of(T a, T b)
{
    return fused(a, static_cast<T>(1), b);
}

} // namespace

std::uint32_t words_sum(Bits bits, std::int32_t seed, std::uint32_t steps)
{
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < period; ++i) {
        sum += word_read(bits, static_cast<std::uint32_t>(seed), i);
    }
    return sum * warps_of_block * (steps / steps_of_period);
}

std::uint32_t written_sum(std::int32_t seed)
{
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < period; ++i) {
        sum += word_written(static_cast<std::uint32_t>(seed), i);
    }
    return sum;
}

template <class T>
Steps<T> there_and_back(T x, T y)
{
    if constexpr (std::is_same_v<T, std::int32_t>) {
        // Odd factors, so that no bit is lost.
        return {fused(x, 0x2c9277b4, 0x6c078965), y, fused(y, 0x1a2b3c4e, 0x5851f42d), x};
    } else {
        double const u = 1 / static_cast<double>(x);
        return {x, y, static_cast<T>(u), static_cast<T>(-u * static_cast<double>(y))};
    }
}

template <class T>
base::Expected multiply_add_reference(std::span<T const> start, Steps<T> const& by,
                                      std::uint32_t steps)
{
    constexpr auto wide = results_of_thread<T>;
    std::vector<double> value(threads_of_block * wide);
    bench::on_all_processors(threads_of_block, [&](std::size_t begin, std::size_t end) {
        for (auto result = begin * wide; result < end * wide; ++result) {
            auto const thread = result / wide;
            T sum{};
            for (std::size_t chain = 0; chain < chains; ++chain) {
                auto a = start[(thread * chains + chain) * wide + result % wide];
                for (std::uint32_t step = 0; step < steps; step += 2) {
                    a = fused(fused(a, by.x, by.y), by.u, by.v);
                }
                sum = chain == 0 ? a : sum_of(sum, a);
            }
            value[result] = static_cast<double>(sum);
        }
    });
    std::vector<double> bound(value.size(), 0.0);
    return {std::move(value), std::move(bound)};
}

template <class T>
base::Expected tensor_reference(std::span<T const> a, std::span<T const> b, std::uint32_t steps)
{
    constexpr auto m = Tile<T>::m;
    constexpr auto n = Tile<T>::n;
    constexpr auto k = Tile<T>::k;
    // Sums of floats are cut off at 23 bits, TF32 keeps 10 behind the point of each operand.
    double const additions = static_cast<double>(steps) + k + tile_pairs;
    double const unit = std::is_same_v<T, std::uint8_t> ? 0
                        : std::is_same_v<T, double>     ? 0x1p-52 * additions
                                                        : 0x1p-22 * additions;
    double const rounding = std::is_same_v<T, float> ? 0x1p-9 : 0;
    base::Expected expected{std::vector<double>(m * n), std::vector<double>(m * n)};
    for (std::size_t pair = 0; pair < tile_pairs; ++pair) {
        for (std::size_t e = 0; e < m * n; ++e) {
            for (std::size_t i = 0; i < k; ++i) {
                auto const product = static_cast<double>(a[(pair * m + e / n) * k + i]) *
                                     static_cast<double>(b[(pair * k + i) * n + e % n]);
                expected.value[e] += steps * product;
                expected.bound[e] += steps * std::abs(product) * (unit + rounding);
            }
        }
    }
    return expected;
}

#define INSTANTIATE(T)                                                                             \
    template Steps<T> there_and_back(T, T);                                                        \
    template base::Expected multiply_add_reference(std::span<T const>, Steps<T> const&,            \
                                                   std::uint32_t);
INSTANTIATE(double)
INSTANTIATE(float)
INSTANTIATE(base::fp16)
INSTANTIATE(std::int32_t)
#undef INSTANTIATE

#define INSTANTIATE(T)                                                                             \
    template base::Expected tensor_reference(std::span<T const>, std::span<T const>, std::uint32_t);
INSTANTIATE(double)
INSTANTIATE(float)
INSTANTIATE(base::fp16)
INSTANTIATE(base::bf16)
INSTANTIATE(std::uint8_t)
#undef INSTANTIATE

} // namespace joules
