#include "cuda/buffer.hpp"
#include "cuda/stream.hpp"
#include "dense/gpu/gemm.hpp"
#include "dense/gpu/gemm_half.hpp"
#include "dense/gpu/gemm_shaped.hpp"
#include "dense/gpu/gemm_steps.hpp"
#include "dense/gpu/gemm_wgmma.hpp"
#include "dense/gpu/reference.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using dense::Matrix;

/// Numbers in device memory that begin `shift` elements behind it, rows with a gap of NaN.
template <class T>
struct ShiftedRows
{
    template <class Random>
    ShiftedRows(std::int64_t row_count, std::int64_t column_count, int gap, int shift,
                bool is_result, Random& random)
        : rows{row_count}, columns{column_count}, stride{column_count + gap}, begin{shift}
    {
        constexpr T nan = std::numeric_limits<T>::quiet_NaN();
        std::vector<T> values(static_cast<std::size_t>(begin + rows * stride), nan);
        std::uniform_real_distribution<double> uniform{-1, 1};
        for (std::int64_t i = 0; i < rows && !is_result; ++i) {
            for (std::int64_t j = 0; j < columns; ++j) {
                values[static_cast<std::size_t>(begin + i * stride + j)] =
                    static_cast<T>(uniform(random));
            }
        }
        memory = cuda::Buffer<T>{values};
    }

    Matrix<T> matrix() { return {memory.data() + begin, rows, columns, stride}; }

    std::int64_t rows, columns, stride, begin;
    cuda::Buffer<T> memory{1};
};

template <class T>
struct ShiftedProduct
{
    template <class Random>
    ShiftedProduct(std::int64_t m, std::int64_t n, std::int64_t k, int gap, int shift,
                   Random& random)
        : a{m, k, gap, shift, false, random}, b{k, n, gap, shift, false, random}, c{m,    n,
                                                                                    gap,  shift,
                                                                                    true, random}
    {
    }

    /// The largest error over what a sum of k products may be off by; NaN where an element was not
    /// written, or a gap was.
    double error(cuda::Stream const& stream)
    {
        auto const count = static_cast<std::size_t>(c.rows * c.columns);
        std::vector<double> value(count), magnitude(count);
        dense::gpu::reference_product<T>(a.matrix(), b.matrix(), 0, value, magnitude, stream);
        stream.synchronize();
        auto const found = c.memory.download();
        double const unit = std::numeric_limits<T>::epsilon() * static_cast<double>(a.columns + 2);
        double worst = 0;
        for (std::int64_t i = 0; i < c.rows; ++i) {
            for (std::int64_t j = 0; j < c.stride && i + 1 < c.rows; ++j) {
                auto const at = static_cast<std::size_t>(c.begin + i * c.stride + j);
                if (j >= c.columns && !std::isnan(found[at])) {
                    return std::numeric_limits<double>::quiet_NaN();
                }
            }
            for (std::int64_t j = 0; j < c.columns; ++j) {
                auto const e = static_cast<std::size_t>(i * c.columns + j);
                auto const at = static_cast<std::size_t>(c.begin + i * c.stride + j);
                double const off = std::abs(static_cast<double>(found[at]) - value[e]);
                double const relative =
                    magnitude[e] == 0 && off == 0 ? 0 : off / (unit * magnitude[e]);
                worst = std::isnan(relative) ? relative : std::max(worst, relative);
                if (std::isnan(worst)) {
                    return worst;
                }
            }
        }
        return worst;
    }

    ShiftedRows<T> a, b, c;
};

struct ShiftedDraw
{
    std::int64_t m, n, k;
    int gap, shift;
};

/// Sizes from 1 to `most` that are spread over all magnitudes, half of them multiples of eight.
std::vector<ShiftedDraw> draws(int count, double most)
{
    std::mt19937 random{31};
    std::uniform_real_distribution<double> exponent{0, std::log2(most)};
    std::vector<ShiftedDraw> found;
    for (int i = 0; i < count; ++i) {
        auto const size = [&] {
            auto const drawn = static_cast<std::int64_t>(std::exp2(exponent(random)));
            return i % 2 == 0 ? (drawn + 7) / 8 * 8 : drawn;
        };
        found.push_back({size(), size(), size(), i % 3 * 2, i % 5 == 4 ? 1 : 0});
    }
    return found;
}

/// Multiplies in each plan that there is for such results; of a sum that is long enough all are.
void check_all_plans(ShiftedDraw const& draw, cuda::Stream const& stream, std::mt19937& random)
{
    for (auto plan :
         dense::gpu::shaped_plans({draw.m, draw.n, 1 << 20, true, dense::gpu::clusters_at_once})) {
        CAPTURE(plan.text());
        CAPTURE(draw.m);
        CAPTURE(draw.k);
        ShiftedProduct<float> p{draw.m, draw.n, draw.k, draw.gap, draw.shift, random};
        dense::gpu::multiply_by_shaped_tiles(plan, p.a.matrix(), p.b.matrix(), p.c.matrix(),
                                             stream);
        REQUIRE(p.error(stream) <= 1);
    }
}

} // namespace

TEST_CASE("every tile and every cluster, in a product of few steps")
{
    if (!dense::gpu::has_wgmma()) {
        return; // it refuses
    }
    cuda::Stream const stream;
    std::mt19937 random{31};
    check_all_plans({70, 33, 40, 1, 0}, stream, random);
}

TEST_CASE("every tile and every cluster, over edges and beyond the depth" *
          doctest::test_suite("many-hazards"))
{
    if (!dense::gpu::has_wgmma()) {
        return; // it refuses
    }
    cuda::Stream const stream;
    std::mt19937 random{32};
    for (ShiftedDraw const& draw : std::vector<ShiftedDraw>{{1, 1, 1, 0, 0},
                                                            {131, 260, 516, 0, 0},
                                                            {131, 259, 517, 1, 0},
                                                            {70, 33, 1200, 3, 1},
                                                            {300, 300, 5, 4, 0}}) {
        check_all_plans(draw, stream, random);
    }
    ShiftedProduct<float> p{64, 64, 64, 0, 0, random};
    CHECK_THROWS_AS(dense::gpu::multiply_by_shaped_tiles({64, 64, 9}, p.a.matrix(), p.b.matrix(),
                                                         p.c.matrix(), stream),
                    std::invalid_argument);
    CHECK_THROWS_AS(dense::gpu::multiply_by_shaped_tiles({63, 64, 1}, p.a.matrix(), p.b.matrix(),
                                                         p.c.matrix(), stream),
                    std::invalid_argument);
}

TEST_CASE("products of floats, of shapes from a row to squares" *
          doctest::test_suite("many-hazards"))
{
    cuda::Stream const stream;
    std::mt19937 random{33};
    for (ShiftedDraw const& draw : draws(60, 1500)) {
        CAPTURE(draw.m);
        CAPTURE(draw.n);
        CAPTURE(draw.k);
        CAPTURE(draw.gap);
        CAPTURE(draw.shift);
        ShiftedProduct<float> p{draw.m, draw.n, draw.k, draw.gap, draw.shift, random};
        dense::gpu::gemm<float>(p.a.matrix(), p.b.matrix(), p.c.matrix(), stream);
        REQUIRE(p.error(stream) <= 1);
    }
}

TEST_CASE_TEMPLATE("few rows, and a sum that is repeated bit for bit", T, float, double)
{
    cuda::Stream const stream;
    std::mt19937 random{34};
    auto const steps = dense::gpu::gemm_steps<T>();
    auto const step = std::ranges::find(steps, "few_rows", &dense::gpu::Step<T>::name);
    REQUIRE(step != steps.end());
    for (std::int64_t m = 1; m <= 8; ++m) {
        for (ShiftedDraw const& draw : std::vector<ShiftedDraw>{{m, 32, 7, 0, 0},
                                                                {m, 515, 3000, 1, 0},
                                                                {m, 4096, 1030, 0, 0},
                                                                {m, 129, 5000, 2, 1}}) {
            CAPTURE(m);
            CAPTURE(draw.n);
            CAPTURE(draw.k);
            ShiftedProduct<T> p{draw.m, draw.n, draw.k, draw.gap, draw.shift, random};
            if (!step->refuses(p.a.matrix(), p.b.matrix(), p.c.matrix()).empty()) {
                continue;
            }
            step->multiply(p.a.matrix(), p.b.matrix(), p.c.matrix(), stream);
            REQUIRE(p.error(stream) <= 1);
            auto const first = p.c.memory.download();
            step->multiply(p.a.matrix(), p.b.matrix(), p.c.matrix(), stream);
            stream.synchronize();
            auto const second = p.c.memory.download();
            auto const is_same = [](T x, T y) {
                return x == y || (std::isnan(x) && std::isnan(y));
            };
            CHECK(std::ranges::equal(first, second, is_same));
        }
    }
}
