#include "base/half.hpp"
#include "cuda/buffer.hpp"
#include "cuda/stream.hpp"
#include "dense/gpu/gemm_steps.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace {

using base::bf16;
using dense::Matrix;

constexpr std::uint16_t poison = 0x7fff; // a NaN

/// A matrix of the device that has `gap` elements behind each row, and the host's copy.
struct Elements
{
    Elements(std::int64_t row_count, std::int64_t column_count, std::int64_t gap)
        : rows{row_count}, columns{column_count}, stride{column_count + gap},
          host(static_cast<std::size_t>(rows * stride))
    {
        for (bf16& each : host) {
            each.bits = poison;
        }
    }

    bf16& at(std::int64_t i, std::int64_t j)
    {
        return host[static_cast<std::size_t>(i * stride + j)];
    }
    void upload() { device.upload(host); }
    Matrix<bf16> view() { return {device.data(), rows, columns, stride}; }

    std::int64_t rows, columns, stride;
    std::vector<bf16> host;
    cuda::Buffer<bf16> device{host.size()};
};

/// A product of random elements. Those of a repeat themselves after 128 rows and 64 columns, those
/// of b after 64 rows and 256 columns, if it `repeats`.
struct Product
{
    template <class Random>
    Product(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t gap, bool repeats,
            Random& random)
        : a{m, k, gap}, b{k, n, gap}, c{m, n, gap}
    {
        std::normal_distribution<double> normal;
        auto const fill = [&](Elements& of, std::int64_t rows, std::int64_t columns) {
            for (std::int64_t i = 0; i < of.rows; ++i) {
                for (std::int64_t j = 0; j < of.columns; ++j) {
                    bool const is_new = !repeats || (i < rows && j < columns);
                    of.at(i, j) = is_new ? bf16{normal(random)} : of.at(i % rows, j % columns);
                }
            }
            of.upload();
        };
        fill(a, 128, 64);
        fill(b, 64, 256);
        for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                double sum = 0;
                double magnitude = 0;
                for (std::int64_t l = 0; l < k; ++l) {
                    double const each =
                        static_cast<double>(a.at(i, l)) * static_cast<double>(b.at(l, j));
                    sum += each;
                    magnitude += std::abs(each);
                }
                value.push_back(sum);
                // half a unit of the result's last place, and what sums in float are off by
                bound.push_back(std::abs(sum) * 0x1p-8 +
                                magnitude * 0x1p-23 * static_cast<double>(k + 2));
            }
        }
    }

    /// Whether a step computes it, and writes nothing between rows.
    void check(dense::gpu::Step<bf16> const& step)
    {
        cuda::Stream const stream;
        c.upload();
        step.multiply(a.view(), b.view(), c.view(), stream);
        stream.synchronize();
        auto const found = c.device.download();
        for (std::size_t e = 0; e < found.size(); ++e) {
            auto const i = static_cast<std::int64_t>(e) / c.stride;
            auto const j = static_cast<std::int64_t>(e) % c.stride;
            if (j >= c.columns) {
                REQUIRE(found[e].bits == poison);
                continue;
            }
            auto const at = static_cast<std::size_t>(i * c.columns + j);
            CAPTURE(i);
            CAPTURE(j);
            REQUIRE(std::abs(static_cast<double>(found[e]) - value[at]) <= bound[at]);
        }
    }

    Elements a, b, c;
    std::vector<double> value, bound;
};

void check_all(std::vector<dense::gpu::Step<bf16>> const& steps, Product product)
{
    for (auto const& step : steps) {
        CAPTURE(std::string{step.name});
        CAPTURE(product.c.rows);
        CAPTURE(product.c.columns);
        CAPTURE(product.a.columns);
        auto const refusal = step.refuses(product.a.view(), product.b.view(), product.c.view());
        if (refusal.find("GPU") == refusal.npos) {
            REQUIRE(refusal == "");
            product.check(step);
        }
    }
}

/// Those that are right for all operands, the last step with other barriers and order among them.
std::vector<dense::gpu::Step<bf16>> every_step()
{
    auto steps = dense::gpu::bf16_gemm_steps();
    for (auto const& step : dense::gpu::bf16_gemm_removals()) {
        steps.push_back(step);
    }
    return steps;
}

} // namespace

TEST_CASE("products in bf16 in every step: whole tiles, parts of tiles, gaps between rows")
{
    std::mt19937 random{21};
    check_all(every_step(), {256, 256, 128, 0, false, random});
    check_all(every_step(), {1, 8, 8, 0, false, random});
    check_all(every_step(), {130, 264, 200, 24, false, random});
}

TEST_CASE("products in bf16 of every shape" * doctest::test_suite("large"))
{
    std::mt19937 random{22};
    std::uniform_int_distribution<std::int64_t> rows{1, 400};
    std::uniform_int_distribution<std::int64_t> packs{1, 50};
    for (int i = 0; i < 8; ++i) {
        check_all(every_step(), {rows(random), 8 * packs(random), 8 * packs(random),
                                 8 * (packs(random) % 3), false, random});
    }
    check_all(every_step(), {4400, 1000, 72, 0, false, random}); // more tiles than a GPU holds
}

TEST_CASE("without loads and barriers products in bf16 are right where all tiles are alike")
{
    std::mt19937 random{23};
    check_all(dense::gpu::bf16_gemm_of_one_tile(), {512, 512, 512, 0, true, random});
}

TEST_CASE("steps in bf16 refuse rows that are no whole packs, or not aligned")
{
    std::mt19937 random{24};
    Product product{16, 16, 16, 0, false, random};
    for (auto const& step : every_step()) {
        CAPTURE(std::string{step.name});
        auto const a = product.a.view();
        auto const b = product.b.view();
        auto const c = product.c.view();
        auto const refuses = [&](Matrix<bf16 const> left, Matrix<bf16 const> right) {
            CHECK(!step.refuses(left, right, c.part(0, 0, left.rows, right.columns)).empty());
        };
        refuses(a.part(0, 0, 16, 12), b.part(0, 0, 12, 16));
        refuses(a, b.part(0, 0, 16, 12));
        refuses(a.part(0, 1, 16, 8), b.part(0, 0, 8, 16));
        refuses(a.part(0, 0, 16, 8), b.part(0, 4, 8, 8));
        refuses({a.data, 8, 16, 20}, b);
        refuses(a, {b.data, 8, 16, 20});
        CHECK(!step.refuses(a, b.part(0, 0, 16, 8), c.part(0, 4, 16, 8)).empty());
    }
}
