#include "base/half.hpp"
#include "cuda/buffer.hpp"
#include "cuda/stream.hpp"
#include "dense/gpu/reference.hpp"
#include "dense/gpu/softmax.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using dense::gpu::Softmax;

template <class T>
double unit_of()
{
    if (std::is_same_v<T, double>) {
        return 0x1p-53;
    }
    return std::is_same_v<T, float> ? 0x1p-24 : std::is_same_v<T, base::fp16> ? 0x1p-11 : 0x1p-8;
}

/// Whether a row is what it should be, in double precision; NaN where that is NaN.
template <class T>
void check_row(Softmax what, T const* x, T const* y, std::int64_t columns)
{
    double largest = -std::numeric_limits<double>::infinity();
    bool is_nan = false;
    for (std::int64_t i = 0; i < columns; ++i) {
        auto const value = static_cast<double>(x[i]);
        is_nan = is_nan || std::isnan(value);
        largest = std::max(largest, value);
    }
    double sum = 0;
    for (std::int64_t i = 0; i < columns; ++i) {
        sum += std::exp(static_cast<double>(x[i]) - largest);
    }
    is_nan = is_nan || std::isnan(sum);
    double const of_sum = std::is_same_v<T, double> ? 0x1p-53 : 0x1p-24;
    for (std::int64_t i = 0; i < columns; ++i) {
        auto const found = static_cast<double>(y[i]);
        if (is_nan) {
            REQUIRE(std::isnan(found));
            continue;
        }
        double const shifted = static_cast<double>(x[i]) - largest;
        double const steps = 32 + static_cast<double>(columns) / 64;
        double const value =
            what == Softmax::probabilities ? std::exp(shifted) / sum : shifted - std::log(sum);
        if (std::isinf(value)) {
            REQUIRE(found == value);
            continue;
        }
        double const scale = what == Softmax::probabilities ? value : 1;
        double const far =
            std::isinf(shifted) ? 0 : 8 * std::abs(shifted); // what is 0 is exactly 0
        double const bound =
            scale * of_sum * (steps + far) + 2 * std::abs(value) * unit_of<T>() + 0x1p-24;
        CAPTURE(i);
        REQUIRE(std::abs(found - value) <= bound);
    }
}

/// One call, in memory that begins `offset` elements behind an aligned address.
template <class T, class Call>
void check_softmax(Softmax what, std::vector<T> const& x, std::int64_t columns, std::size_t offset,
                   Call call)
{
    cuda::Stream const stream;
    cuda::Buffer<T> in{x.size() + offset};
    cuda::Buffer<T> out{x.size() + offset};
    cuda::copy_to_device(in.data() + offset, x.data(), x.size() * sizeof(T));
    auto const rows = static_cast<std::int64_t>(x.size()) / columns;
    call(what, in.data() + offset, out.data() + offset, rows, columns, stream);
    stream.synchronize();
    std::vector<T> y(x.size());
    cuda::copy_to_host(y.data(), out.data() + offset, y.size() * sizeof(T));
    for (std::int64_t row = 0; row < rows; ++row) {
        CAPTURE(row);
        check_row(what, x.data() + row * columns, y.data() + row * columns, columns);
    }
}

template <class T>
std::vector<T> random_rows(std::int64_t rows, std::int64_t columns, unsigned seed)
{
    std::mt19937 random{seed};
    std::normal_distribution<double> normal{0, 3};
    std::vector<T> x(static_cast<std::size_t>(rows * columns));
    for (T& each : x) {
        each = static_cast<T>(normal(random));
    }
    return x;
}

template <class T>
void check_softmax_of(std::initializer_list<std::int64_t> widths)
{
    for (std::int64_t const columns : widths) {
        auto const x = random_rows<T>(columns > 5000 ? 2 : 9, columns, 11);
        for (auto const what : {Softmax::probabilities, Softmax::logarithms}) {
            for (std::size_t const offset : {0, 1}) {
                CAPTURE(columns);
                CAPTURE(offset);
                check_softmax(what, x, columns, offset, dense::gpu::softmax<T>);
                for (auto const& steps :
                     {dense::gpu::softmax_steps<T>(), dense::gpu::softmax_layouts<T>()}) {
                    for (auto const& step : steps) {
                        if (step.takes(columns)) {
                            CAPTURE(std::string{step.name});
                            check_softmax(what, x, columns, offset, step.call);
                        }
                    }
                }
            }
        }
    }
}

} // namespace

TEST_CASE_TEMPLATE("softmax in every way and alignment", T, base::fp16, base::bf16, float, double)
{
    check_softmax_of<T>({3, 33, 1001, 4097, 70001});
}

// Apart from those above, as their kernels are the same.
TEST_CASE_TEMPLATE("softmax of every width" * doctest::test_suite("large"), T, base::fp16,
                   base::bf16, float, double)
{
    check_softmax_of<T>({1, 2, 31, 32, 100, 127, 511, 1000, 1024, 1025, 2047, 2048, 4096, 8192,
                         8193, 16385, 20000, 65536, 262144});
}

TEST_CASE("the reference of softmax")
{
    cuda::Stream const stream;
    auto const x = random_rows<float>(6, 300, 12);
    cuda::Buffer<float> const device{std::span<float const>{x}};
    std::vector<double> value(600);
    std::vector<double> below(600);
    dense::gpu::reference_softmax(false, device.data(), 300, 900, value, below, stream);
    for (std::size_t row = 0; row < 2; ++row) {
        auto const* const from = x.data() + 900 + row * 300;
        double const largest = *std::max_element(from, from + 300);
        double sum = 0;
        for (int i = 0; i < 300; ++i) {
            sum += std::exp(from[i] - largest);
        }
        for (std::size_t i = 0; i < 300; ++i) {
            REQUIRE(value[row * 300 + i] == doctest::Approx(std::exp(from[i] - largest) / sum));
            REQUIRE(below[row * 300 + i] == doctest::Approx(largest - from[i]));
        }
    }
    CHECK_THROWS_AS(
        dense::gpu::reference_softmax(false, device.data(), 300, 1, value, below, stream),
        std::invalid_argument);
}

// What a sanitizer sees does not depend on values.
TEST_CASE_TEMPLATE("special values" * doctest::test_suite("large"), T, base::fp16, base::bf16,
                   float, double)
{
    double const infinity = std::numeric_limits<double>::infinity();
    double const nan = std::numeric_limits<double>::quiet_NaN();
    for (std::int64_t const columns : {3, 40, 1000, 5000, 40000}) {
        for (auto const& [first, others] :
             std::vector<std::pair<double, double>>{{-infinity, 1},
                                                    {infinity, 1},
                                                    {nan, 1},
                                                    {2, 2},
                                                    {-infinity, -infinity},
                                                    {1, -infinity},
                                                    {-300, -infinity},
                                                    {500, -500}}) {
            for (bool const at_the_end : {false, true}) { // parts that know only the others
                std::vector<T> x(static_cast<std::size_t>(columns), static_cast<T>(others));
                (at_the_end ? x.back() : x.front()) = static_cast<T>(first);
                CAPTURE(columns);
                CAPTURE(first);
                CAPTURE(others);
                for (auto const& step : dense::gpu::softmax_steps<T>()) {
                    if (step.takes(columns)) {
                        CAPTURE(std::string{step.name});
                        check_softmax(Softmax::probabilities, x, columns, 0, step.call);
                    }
                }
            }
        }
    }
}

TEST_CASE("softmax of nothing, and what is refused")
{
    cuda::Stream const stream;
    float* const none = nullptr;
    dense::gpu::softmax<float>(Softmax::probabilities, none, none, 0, 5, stream);
    dense::gpu::softmax<float>(Softmax::probabilities, none, none, 5, 0, stream);
    cuda::Buffer<float> memory{std::vector<float>(100, 1.0F)};
    float* const at = memory.data();
    constexpr std::int64_t wide = std::int64_t{1} << 32;
    auto const refuses = [&](float const* x, float* y, std::int64_t rows, std::int64_t columns) {
        CHECK_THROWS_AS(dense::gpu::softmax(Softmax::probabilities, x, y, rows, columns, stream),
                        std::invalid_argument);
        CHECK_THROWS_AS(dense::gpu::softmax_of_block_size(Softmax::probabilities, x, y, rows,
                                                          columns, 128, stream),
                        std::invalid_argument);
    };
    refuses(none, none, -1, 5);
    refuses(at, at, 5, -1);
    refuses(at, at, wide, wide);
    refuses(none, none, wide, wide);
    refuses(at, at, wide / 2, wide);
    refuses(none, at, 2, 2);
    refuses(at, none, 2, 2);
    refuses(at, at + 1, 2, 2);
    refuses(at + 3, at, 2, 2);
    for (auto* const to : {at, at + 4, at + 50}) { // in place, right behind, elsewhere
        dense::gpu::softmax(Softmax::probabilities, at, to, 2, 2, stream);
    }
    stream.synchronize();
    CHECK(memory.download().front() == 0.5F);
}
