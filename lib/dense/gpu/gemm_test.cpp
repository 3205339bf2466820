#include "dense/gpu/gemm.hpp"

#include "base/half.hpp"
#include "cuda/buffer.hpp"
#include "cuda/device.hpp"
#include "cuda/graph.hpp"
#include "cuda/stream.hpp"
#include "dense/gpu/gemm_half.hpp"
#include "dense/gpu/gemm_plan.hpp"
#include "dense/gpu/gemm_small.hpp"
#include "dense/gpu/gemm_steps.hpp"
#include "dense/gpu/gemm_tf32.hpp"
#include "dense/gpu/gemm_wgmma.hpp"
#include "dense/gpu/reference.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Products for users: what may be asked for, and what is refused.

namespace {

using dense::Matrix;
using dense::gpu::GemmOptions;
using dense::gpu::Precision;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Half the distance of neighbouring numbers, relative to them.
template <class T>
constexpr double unit = std::is_same_v<T, double>       ? 0x1p-53
                        : std::is_same_v<T, float>      ? 0x1p-24
                        : std::is_same_v<T, base::fp16> ? 0x1p-11
                                                        : 0x1p-8;

/// The same of what sums are made in.
template <class T>
constexpr double unit_of_sums = std::is_same_v<T, double> ? 0x1p-53 : 0x1p-24;

/// What lies between rows, and must stay there.
constexpr double in_gaps = not_a_number;

/// A matrix on both sides, which begins `offset` elements behind an aligned address.
template <class T>
struct Held
{
    std::int64_t rows, columns, stride, offset;
    std::vector<T> host;
    cuda::Buffer<T> device;

    Held(std::int64_t row_count, std::int64_t column_count, std::int64_t gap, std::int64_t begin)
        : rows{row_count}, columns{column_count}, stride{column_count + gap}, offset{begin},
          host(static_cast<std::size_t>(offset + rows * stride), static_cast<T>(in_gaps)),
          device{host.size()}
    {
    }

    T& operator()(std::int64_t i, std::int64_t j)
    {
        return host[static_cast<std::size_t>(offset + i * stride + j)];
    }

    double value(std::int64_t i, std::int64_t j, bool transposed = false)
    {
        return static_cast<double>(transposed ? (*this)(j, i) : (*this)(i, j));
    }

    template <class Make>
    void fill(Make make)
    {
        for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t j = 0; j < columns; ++j) {
                (*this)(i, j) = static_cast<T>(make());
            }
        }
        device.upload(host);
    }

    Matrix<T> matrix() { return {device.data() + offset, rows, columns, stride}; }
};

/// What is multiplied, and how it lies in memory.
struct GemmArguments
{
    std::int64_t m, n, k;
    std::array<std::int64_t, 3> gaps = {};
    std::array<std::int64_t, 3> offsets = {};
    GemmOptions options = {};

    std::string text() const
    {
        auto const number = [](auto value) { return std::to_string(value) + ' '; };
        return number(m) + number(n) + number(k) + "gaps " + number(gaps[0]) + number(gaps[1]) +
               number(gaps[2]) + "offsets " + number(offsets[0]) + number(offsets[1]) +
               number(offsets[2]) + (options.transposes.a ? "a transposed " : "") +
               (options.transposes.b ? "b transposed " : "") + "alpha " + number(options.alpha) +
               "beta " + number(options.beta) + "precision " +
               number(static_cast<int>(options.precision));
    }
};

template <class T>
struct TestGemm
{
    GemmArguments asked;
    Held<T> a, b, c;

    template <class Random>
    TestGemm(GemmArguments const& what, Random& random)
        : asked{what}, a{held(what.m, what.k, what.options.transposes.a, 0)},
          b{held(what.k, what.n, what.options.transposes.b, 1)}, c{held(what.m, what.n, false, 2)}
    {
        std::uniform_real_distribution<double> uniform{-1, 1};
        auto const number = [&] { return uniform(random); };
        a.fill(number);
        b.fill(number);
        c.fill([&] { return asked.options.beta == 0 ? not_a_number : number(); });
    }

    void multiply(cuda::Stream const& stream)
    {
        dense::gpu::gemm<T>(a.matrix(), b.matrix(), c.matrix(), stream, asked.options);
    }

    /// What is wrong with the result; empty if nothing is. `rounding`: of each operand.
    std::string wrong(double rounding = 0)
    {
        auto const found = c.device.download();
        auto const& options = asked.options;
        for (std::size_t at = 0; at < found.size(); ++at) {
            auto const e = static_cast<std::int64_t>(at) - c.offset;
            if (e < 0 || e % c.stride >= c.columns) {
                if (!std::isnan(static_cast<double>(found[at]))) {
                    return "a gap was written, at " + std::to_string(e);
                }
                continue;
            }
            auto const i = e / c.stride;
            auto const j = e % c.stride;
            double sum = 0;
            double magnitude = 0;
            for (std::int64_t l = 0; l < asked.k; ++l) {
                double const each =
                    a.value(i, l, options.transposes.a) * b.value(l, j, options.transposes.b);
                sum += each;
                magnitude += std::abs(each);
            }
            double const before = options.beta == 0 ? 0 : options.beta * c.value(i, j);
            double const value = options.alpha * sum + before;
            double const of_sums = 2 * unit_of_sums<T> * static_cast<double>(asked.k + 4);
            double const bound = std::abs(options.alpha) * (of_sums + 2 * rounding) * magnitude +
                                 4 * unit_of_sums<T> * std::abs(before) +
                                 1.01 * unit<T> * std::abs(value) + 0x1p-25 * (sizeof(T) == 2);
            double const off = std::abs(static_cast<double>(found[at]) - value);
            if (!(off <= bound)) {
                return "(" + std::to_string(i) + ", " + std::to_string(j) + ") is off by " +
                       std::to_string(off / bound) + " times what it may be";
            }
        }
        return {};
    }

private:
    Held<T> held(std::int64_t rows, std::int64_t columns, bool transposed, std::size_t which) const
    {
        return {transposed ? columns : rows, transposed ? rows : columns, asked.gaps[which],
                asked.offsets[which]};
    }
};

template <class T>
bool can_multiply()
{
    Matrix<T> const none;
    auto const steps = dense::gpu::gemm_steps<T>();
    return std::ranges::any_of(
        steps, [&](auto const& step) { return step.refuses(none, none, none).empty(); });
}

/// Sizes of all magnitudes up to `largest`, every other one a multiple of 8; gaps, transposes and
/// factors in all combinations.
class Draws
{
public:
    Draws(unsigned seed, std::int64_t largest)
        : random_{seed}, logarithm_{0, std::log(static_cast<double>(largest) + 1)}
    {
    }

    GemmArguments next()
    {
        GemmArguments asked{size(), size(), size()};
        for (std::size_t which = 0; which < 3; ++which) {
            asked.gaps[which] = one_of(0, 0, 1, 8, 3);
            asked.offsets[which] = one_of(0, 0, 1, 8, 2);
        }
        asked.options.alpha = one_of(1, 1, -0.5, 3, 0.25);
        asked.options.beta = one_of(0, 0, 1, -2, 0.5);
        asked.options.transposes = {one_of(0, 1, 0, 1, 0) == 1, one_of(0, 1, 0, 1, 1) == 1};
        return asked;
    }

    std::mt19937& random() { return random_; }

private:
    template <class Value>
    Value one_of(Value a, std::type_identity_t<Value> b, std::type_identity_t<Value> c,
                 std::type_identity_t<Value> d, std::type_identity_t<Value> e)
    {
        return std::array<Value, 5>{a, b, c, d, e}[random_() % 5];
    }

    std::int64_t size()
    {
        auto const drawn = static_cast<std::int64_t>(std::exp(logarithm_(random_)));
        return random_() % 2 == 0 ? drawn : (drawn + 7) / 8 * 8;
    }

    std::mt19937 random_;
    std::uniform_real_distribution<double> logarithm_;
};

double rounding_of(Precision precision)
{
    return precision == Precision::tf32 ? 0x1p-10 : precision == Precision::tf32x3 ? 0x1p-21 : 0;
}

template <class T>
void check_draws(unsigned seed, std::int64_t largest, int count)
{
    if (!can_multiply<T>()) {
        MESSAGE("skipped: this GPU does not know the type");
        return;
    }
    cuda::Stream const stream;
    Draws draws{seed, largest};
    for (int i = 0; i < count; ++i) {
        auto asked = draws.next();
        if (std::is_same_v<T, float>) {
            asked.options.precision =
                std::array{Precision::fp32, Precision::tf32, Precision::tf32x3}[i % 3];
        }
        CAPTURE(asked.text());
        TestGemm<T> p{asked, draws.random()};
        p.multiply(stream);
        stream.synchronize();
        REQUIRE(p.wrong(rounding_of(asked.options.precision)) == "");
    }
}

} // namespace

TEST_CASE_TEMPLATE("any shape, gaps, alignment, transposes, alpha and beta", T, base::fp16,
                   base::bf16, float, double)
{
    check_draws<T>(21, 200, 30);
}

// Apart from those above, as their kernels are the same.
TEST_CASE_TEMPLATE("many shapes, gaps, alignments, transposes, alphas and betas" *
                       doctest::test_suite("large"),
                   T, base::fp16, base::bf16, float, double)
{
    check_draws<T>(22, 600, 60);
}

// Kernels that begin before the one in front of them ends read nothing of it too early: a chain
// gives the same bits, waited for or not. The odd size has operands copied, too.
TEST_CASE_TEMPLATE("products that need each other, one behind the other", T, base::fp16, base::bf16)
{
    cuda::Stream const stream;
    std::mt19937 random{24};
    for (std::int64_t const n : {64, 253, 640}) {
        CAPTURE(n);
        TestGemm<T> p{{n, n, n, {}, {}, {.alpha = 0.1}}, random};
        std::array<cuda::Buffer<T>, 2> results{cuda::Buffer<T>{p.a.host.size()},
                                               cuda::Buffer<T>{p.a.host.size()}};
        for (int const waits : {1, 0}) {
            p.a.device.upload(p.a.host);
            p.multiply(stream);
            for (int i = 0; i < 20; ++i) {
                auto& from = i % 2 == 0 ? p.c : p.a;
                auto& to = i % 2 == 0 ? p.a : p.c;
                dense::gpu::gemm<T>(p.b.matrix(), from.matrix(), to.matrix(), stream,
                                    p.asked.options);
                if (waits == 1) {
                    stream.synchronize();
                }
            }
            stream.synchronize();
            auto const last = p.c.device.download();
            results[static_cast<std::size_t>(waits)].upload(last);
        }
        auto const waited = results[1].download();
        auto const hurried = results[0].download();
        bool const are_equal = std::ranges::equal(waited, hurried, [](T const& x, T const& y) {
            return static_cast<double>(x) == static_cast<double>(y);
        });
        CHECK(are_equal);
        CHECK(std::isfinite(static_cast<double>(waited.back())));
    }
}

namespace {

/// Every step on matrices with gaps, where it does not refuse them.
template <class T>
int check_gaps(std::vector<dense::gpu::Step<T>> const& steps, double rounding)
{
    cuda::Stream const stream;
    std::mt19937 random{23};
    int taken = 0;
    for (auto const& step : steps) {
        CAPTURE(std::string{step.name});
        for (auto const& [m, n, k] :
             {std::array{256, 128, 64}, {64, 96, 128}, {129, 140, 37}, {70, 11, 300}}) {
            for (std::int64_t const gap : {8, 3}) {
                CAPTURE(m);
                CAPTURE(gap);
                TestGemm<T> p{{m, n, k, {gap, gap, gap}}, random};
                if (!step.refuses(p.a.matrix(), p.b.matrix(), p.c.matrix()).empty()) {
                    continue;
                }
                ++taken;
                step.multiply(p.a.matrix(), p.b.matrix(), p.c.matrix(), stream);
                stream.synchronize();
                REQUIRE(p.wrong(rounding) == "");
            }
        }
    }
    return taken;
}

} // namespace

TEST_CASE("steps take gaps between rows or refuse them")
{
    CHECK(check_gaps(dense::gpu::gemm_steps<float>(), 0) >= 20); // of those that `gemm` takes
    CHECK(check_gaps(dense::gpu::gemm_steps<double>(), 0) >= 12);
    check_gaps(dense::gpu::gemm_steps<base::fp16>(), 0);
    check_gaps(dense::gpu::gemm_steps<base::bf16>(), 0);
    check_gaps(dense::gpu::tensor_gemm_steps(), 0x1p-10);
}

TEST_CASE_TEMPLATE("what is multiplied by 0 is not read, and the sum of nothing is 0", T,
                   base::fp16, float, double)
{
    cuda::Stream const stream;
    std::mt19937 random{24};
    for (double const beta : {0.0, -2.0}) {
        CAPTURE(beta);
        TestGemm<T> p{{33, 40, 50, {1, 0, 3}, {}, {.alpha = 0, .beta = beta}}, random};
        p.a.fill([] { return not_a_number; });
        p.multiply(stream);
        stream.synchronize();
        p.a.fill([] { return 0; }); // for the test's own sums
        CHECK(p.wrong() == "");
        TestGemm<T> without{{33, 40, 0, {1, 0, 3}, {}, {.alpha = 3, .beta = beta}}, random};
        without.multiply(stream);
        stream.synchronize();
        CHECK(without.wrong() == "");
    }
}

TEST_CASE_TEMPLATE("a product in a graph, with copies in workspaces", T, base::fp16, float, double)
{
    cuda::Stream const stream;
    std::mt19937 random{25};
    TestGemm<T> p{{70, 90, 110, {}, {}, {.alpha = 2, .transposes = {true, true}}}, random};
    cuda::Graph const graph{stream, [&] { p.multiply(stream); }, 2};
    for (int replay = 0; replay < 3; ++replay) {
        p.a.fill([&] { return std::uniform_real_distribution<double>{-1, 1}(random); });
        p.c.fill([] { return not_a_number; });
        graph.replay(stream);
        stream.synchronize();
        CHECK(p.wrong() == "");
    }
}

TEST_CASE("a workspace of the caller's")
{
    cuda::Stream const stream;
    std::mt19937 random{26};
    TestGemm<double> p{{70, 90, 110, {}, {}, {.beta = 3, .transposes = {true, false}}}, random};
    auto& options = p.asked.options;
    auto const bytes = [&] {
        return dense::gpu::gemm_workspace_bytes<double>(p.a.matrix(), p.b.matrix(), p.c.matrix(),
                                                        options);
    };
    cuda::Buffer<std::byte> memory{bytes() + 1};
    CHECK(bytes() >= (70 * 110 + 70 * 90) * sizeof(double));
    options.workspace = memory.span().first(bytes());
    p.multiply(stream);
    stream.synchronize();
    CHECK(p.wrong() == "");
    auto const refused = [&](std::span<std::byte> workspace, char const* why) {
        options.workspace = workspace;
        CHECK_THROWS_WITH_AS(p.multiply(stream), doctest::Contains(why), std::invalid_argument);
    };
    refused(memory.span().first(bytes() - 1), "bytes, expected");
    refused(memory.span().last(bytes()), "between two multiples of 256, expected");
    options = {};
    options.transposes.a = true; // of the sizes alone
    CHECK(bytes() > 0);
    TestGemm<double> const plain{{70, 90, 110}, random};
    CHECK(dense::gpu::gemm_workspace_bytes<double>(
              Matrix<double const>{plain.a.device.data(), 70, 110},
              Matrix<double const>{plain.b.device.data(), 110, 90}, p.c.matrix(), {}) == 0);
}

TEST_CASE("blocks of one buffer, and results in memory of an operand")
{
    cuda::Stream const stream;
    cuda::Buffer<float> memory{std::vector<float>(64 * 64, 1)};
    Matrix<float> const whole{memory.data(), 64, 64};
    auto const left = whole.part(0, 0, 32, 32);
    auto const right = whole.part(0, 32, 32, 32);
    auto const below = whole.part(32, 16, 32, 32);
    dense::gpu::gemm<float>(left, left, right, stream);
    dense::gpu::gemm<float>(left, right, below, stream, {.transposes = {true, true}});
    stream.synchronize();
    CHECK(memory.download()[40] == 32);
    CHECK(memory.download()[32 * 64 + 16] == 32 * 32);
    for (auto const& c : {left, whole.part(1, 1, 32, 32), whole.part(31, 31, 32, 32)}) {
        for (bool const transposed : {false, true}) {
            CHECK_THROWS_WITH_AS(
                dense::gpu::gemm<float>(left, left, c, stream, {.transposes = {transposed, false}}),
                doctest::Contains("expected a result in memory of its own"), std::invalid_argument);
        }
    }
}

TEST_CASE("sizes that do not agree are told with what is transposed")
{
    cuda::Stream const stream;
    cuda::Buffer<float> memory{std::vector<float>(64, 1)};
    float* const at = memory.data();
    CHECK_THROWS_WITH_AS(dense::gpu::gemm<float>({at, 2, 3}, {at, 3, 4}, {at + 32, 2, 4}, stream,
                                                 {.transposes = {true, false}}),
                         "dense::gpu::gemm: found 2 x 3 transposed times 3 x 4 into 2 x 4, "
                         "expected sizes that agree",
                         std::invalid_argument);
    CHECK_NOTHROW(dense::gpu::gemm<float>({at, 3, 2}, {at, 4, 3}, {at + 32, 2, 4}, stream,
                                          {.transposes = {true, true}}));
}

TEST_CASE_TEMPLATE("the reference of large products, with gaps and in 16 bits", T, base::fp16,
                   base::bf16)
{
    cuda::Stream const stream;
    std::mt19937 random{27};
    TestGemm<T> p{{5, 7, 40, {3, 1, 0}}, random};
    std::vector<double> value(35), magnitude(35);
    dense::gpu::reference_product<T>(p.a.matrix(), p.b.matrix(), 0, value, magnitude, stream);
    for (std::int64_t e = 0; e < 35; ++e) {
        double sum = 0;
        double absolute = 0;
        for (std::int64_t l = 0; l < 40; ++l) {
            double const each = p.a.value(e / 7, l) * p.b.value(l, e % 7);
            sum += each;
            absolute += std::abs(each);
        }
        REQUIRE(value[static_cast<std::size_t>(e)] == doctest::Approx(sum).epsilon(1e-12));
        REQUIRE(magnitude[static_cast<std::size_t>(e)] == doctest::Approx(absolute).epsilon(1e-12));
    }
}

TEST_CASE("doubles on tensor cores: every tile, by one block and by clusters")
{
    cuda::Stream const stream;
    Draws draws{23, 300};
    for (auto const& step : dense::gpu::tensor_fp64_tiles()) {
        for (int i = 0; i < 6; ++i) {
            auto asked = draws.next();
            asked.options = {};
            CAPTURE(asked.text());
            CAPTURE(std::string{step.name});
            TestGemm<double> p{asked, draws.random()};
            if (step.refuses(p.a.matrix(), p.b.matrix(), p.c.matrix()).empty()) {
                step.multiply(p.a.matrix(), p.b.matrix(), p.c.matrix(), stream);
                stream.synchronize();
                REQUIRE(p.wrong() == "");
            }
        }
    }
}

TEST_CASE_TEMPLATE("16 bits without tensor cores in every way", T, base::fp16, base::bf16)
{
    cuda::Stream const stream;
    std::mt19937 random{27};
    // More than a tile and a half; a depth for more than 32 warps; few columns.
    for (auto const& asked :
         {GemmArguments{70, 103, 37, {3, 1, 0}, {1, 0, 3}},
          GemmArguments{5, 33, 1090, {6, 0, 3}, {0, 8, 1}, {.alpha = 0.5, .beta = -2}},
          GemmArguments{9, 7, 2051, {1, 0, 5}}, GemmArguments{300, 1, 65, {0, 2, 0}}}) {
        CAPTURE(asked.text());
        TestGemm<T> p{asked, random};
        for (auto const& plan : dense::gpu::small_plans(asked.m, asked.n, asked.k)) {
            CAPTURE(static_cast<int>(plan.way));
            p.c.device.upload(p.c.host);
            dense::gpu::multiply_small<T>(plan.way, asked.options.alpha, p.a.matrix(), p.b.matrix(),
                                          asked.options.beta, p.c.matrix(), stream);
            stream.synchronize();
            REQUIRE(p.wrong() == "");
        }
    }
}

TEST_CASE_TEMPLATE("16 bits by every plan, loaded by the copy engine and by threads", T, base::fp16,
                   base::bf16)
{
    if (!dense::gpu::has_wgmma()) {
        MESSAGE("skipped: it is made for GPUs of compute capability 9.0");
        return;
    }
    cuda::Stream const stream;
    std::mt19937 random{25};
    // Three tiles down and parts of boxes; many stages, of which clusters split the depth; packs
    // that are not whole. Rows do not begin at lines of 128 bytes.
    for (auto const& asked :
         {GemmArguments{270, 264, 103, {9, 8, 0}, {8, 0, 0}},
          GemmArguments{72, 40, 1090, {6, 0, 3}, {0, 8, 1}, {.alpha = 0.5, .beta = -2}},
          GemmArguments{130, 3, 250, {6, 5, 0}},
          GemmArguments{1100, 330, 20, {4, 6, 6}}}) { // more small tiles than multiprocessors
        CAPTURE(asked.text());
        TestGemm<T> p{asked, random};
        Matrix<T const> const a = p.a.matrix();
        Matrix<T const> const b = p.b.matrix();
        auto const check = [&](dense::gpu::WgmmaPlan const& plan) {
            CAPTURE(plan.text());
            p.c.device.upload(p.c.host);
            dense::gpu::multiply_by_wgmma<T>(plan, asked.options.alpha, a, b, asked.options.beta,
                                             p.c.matrix(), stream);
            stream.synchronize();
            REQUIRE(p.wrong() == "");
        };
        for (auto plan : dense::gpu::wgmma_plans(dense::gpu::wgmma_problem(a, b))) {
            if (plan.copies_b) {
                continue; // as it comes without
            }
            check(plan);
            plan.copies_b = true;
            if (plan.columns <= 64) {
                check(plan);
            } else {
                CHECK_THROWS_AS(check(plan), std::invalid_argument);
            }
        }
    }
}

/// Multiplies in TF32 by every plan in which no block makes more than so many steps along the sum.
void check_tf32_plans(std::initializer_list<GemmArguments> draws, std::int64_t most_steps = 1 << 20)
{
    cuda::Stream const stream;
    std::mt19937 random{26};
    for (auto asked : draws) {
        asked.options.precision = Precision::tf32;
        CAPTURE(asked.text());
        TestGemm<float> p{asked, random};
        Matrix<float const> const a = p.a.matrix();
        Matrix<float const> const b = p.b.matrix();
        auto const plans = dense::gpu::tf32_plans(a, b);
        REQUIRE(!plans.empty());
        for (auto const& plan : plans) {
            constexpr int depth_of_step = 32;
            if (most_steps * depth_of_step * plan.parts < a.columns) {
                continue;
            }
            CAPTURE(plan.text());
            p.c.device.upload(p.c.host);
            dense::gpu::multiply_by_tf32(plan, a, b, p.c.matrix(), stream);
            stream.synchronize();
            REQUIRE(p.wrong(rounding_of(asked.options.precision)) == "");
        }
    }
}

TEST_CASE("floats in TF32 by every plan, in a product of few tiles")
{
    if (!dense::gpu::has_wgmma()) {
        MESSAGE("skipped: it is made for GPUs of compute capability 9.0");
        return;
    }
    // By the copy engine, and by threads; in four classes of rows. No stage is used again, which is
    // what racecheck takes for many hazards.
    check_tf32_plans(
        {{70, 130, 124, {1, 0, 0}}, {5, 131, 125}, {70, 130, 516, {1, 0, 0}}, {5, 131, 517}}, 4);
    Matrix<float const> const none{};
    cuda::Stream const stream;
    for (dense::gpu::Tf32Plan const& refused :
         {dense::gpu::Tf32Plan{32, 1, 1}, {64, 2, 8}, {64, 1, 2}}) {
        CHECK_THROWS_AS(dense::gpu::multiply_by_tf32(refused, none, none, {}, stream),
                        std::invalid_argument);
    }
}

TEST_CASE("floats in TF32 by every plan, of any alignment" * doctest::test_suite("many-hazards"))
{
    if (!dense::gpu::has_wgmma()) {
        MESSAGE("skipped: it is made for GPUs of compute capability 9.0");
        return;
    }
    // Parts of tiles; rows of a that begin alike, and in four classes, some of which make a step
    // more; b by the copy engine, and by threads; one step, and many for clusters that divide the
    // depth; more tiles than fit, whose stages are used again.
    check_tf32_plans({{300, 260, 103, {1, 0, 0}},
                      {300, 263, 1088, {1, 0, 0}},
                      {70, 40, 1090, {2, 0, 3}, {0, 0, 1}},
                      {70, 130, 516, {1, 0, 0}},
                      {5, 131, 1091},
                      {130, 129, 1},
                      {1100, 1200, 300},
                      {1100, 1201, 300}});
}

/// Plans products of any shape, gaps, alignment and transposes, by each of their kernels.
template <class T>
void check_plan_by_each_kernel()
{
    if (!can_multiply<T>()) {
        MESSAGE("skipped: this GPU does not know the type");
        return;
    }
    cuda::Stream const stream;
    Draws draws{31, 200};
    for (int i = 0; i < 10; ++i) {
        auto asked = draws.next();
        if (std::is_same_v<T, float>) {
            asked.options.precision =
                std::array{Precision::fp32, Precision::tf32, Precision::tf32x3}[i % 3];
        }
        CAPTURE(asked.text());
        TestGemm<T> planned{asked, draws.random()};
        TestGemm<T> p{asked, draws.random()}; // laid out alike, elsewhere and of other numbers
        auto const plan_for = [&](dense::gpu::GemmPlanOptions const& options) {
            return dense::gpu::GemmPlan<T>{planned.a.matrix(), planned.b.matrix(),
                                           planned.c.matrix(), stream,
                                           asked.options,      options};
        };
        auto const check = [&](dense::gpu::GemmPlan<T> const& plan) {
            CAPTURE(plan.explain());
            p.c.device.upload(p.c.host);
            plan(p.a.matrix(), p.b.matrix(), p.c.matrix(), stream);
            stream.synchronize();
            REQUIRE(p.wrong(rounding_of(asked.options.precision)) == "");
            return p.c.device.download();
        };
        auto const untimed = plan_for({.timed = false});
        CHECK(untimed.kernel() == untimed.candidates().front().kernel);
        for (auto const& candidate : untimed.candidates()) {
            auto const plan = plan_for({.kernel = candidate.kernel});
            CHECK(plan.kernel() == candidate.kernel);
            check(plan);
        }
        auto const by_plan = check(untimed);
        p.c.device.upload(p.c.host);
        p.multiply(stream);
        auto const by_gemm = p.c.device.download();
        bool const alike = std::ranges::equal(std::as_bytes(std::span{by_plan}),
                                              std::as_bytes(std::span{by_gemm}));
        CHECK((alike || !untimed.repeats()));
        check(plan_for({}));
        auto const untouched = planned.c.device.download();
        CHECK(std::ranges::equal(std::as_bytes(std::span{untouched}),
                                 std::as_bytes(std::span{planned.c.host})));
        check(plan_for({.multiplies = 0}));
    }
}

TEST_CASE_TEMPLATE("a plan by each of its kernels", T, base::fp16, base::bf16, double)
{
    check_plan_by_each_kernel<T>();
}

TEST_CASE("a plan of floats by each of its kernels" * doctest::test_suite("many-hazards"))
{
    check_plan_by_each_kernel<float>();
}

TEST_CASE("a timed plan in a graph, and what a plan refuses")
{
    cuda::Stream const stream;
    std::mt19937 random{32};
    // A part of a wide matrix: nothing of its width is allocated.
    GemmArguments const asked{130,          70, 90,
                              {0, 2, 5000}, {}, {.beta = 2, .transposes = {.a = true}}};
    TestGemm<float> p{asked, random};
    auto const a = p.a.matrix();
    auto const b = p.b.matrix();
    auto const c = p.c.matrix();
    dense::gpu::GemmPlan<float> plan{a, b, c, stream, asked.options};
    CHECK(plan.bytes() > 0); // a is transposed
    CHECK(plan.bytes() < 200'000);
    auto const timed = [](auto const& candidate) { return candidate.seconds > 0; };
    CHECK(std::ranges::count_if(plan.candidates(), timed) > 1);
    auto const chosen =
        std::ranges::find(plan.candidates(), plan.kernel(), &dense::gpu::GemmCandidate::kernel);
    REQUIRE(chosen != plan.candidates().end());
    CHECK(chosen->seconds > 0);
    auto const moved = std::move(plan);
    cuda::Graph const graph{stream, [&] { moved(a, b, c, stream); }};
    graph.replay(stream);
    stream.synchronize();
    CHECK(p.wrong() == "");
    dense::gpu::GemmPlan<float> const repeating{
        a, b, c, stream, {.transposes = {.a = true}}, {.repeats = true}};
    CHECK(repeating.repeats());
    CHECK_THROWS_WITH_AS(moved(a.part(0, 0, 90, 129), b, c.part(0, 0, 129, 70), stream),
                         doctest::Contains("found a of 90 x 129"), std::invalid_argument);
    cuda::Buffer<float> elsewhere{static_cast<std::size_t>(90 * 72 + 1)};
    dense::Matrix<float const> const between{elsewhere.data() + 1, 90, 70, 72};
    CHECK_THROWS_WITH_AS(moved(a, between, c, stream), doctest::Contains("at multiples of 4 bytes"),
                         std::invalid_argument);
    auto const with_kernel = [&](char const* kernel) {
        dense::gpu::GemmPlan<float>{a, b, c, stream, asked.options, {.kernel = kernel}};
    };
    CHECK_THROWS_WITH_AS(with_kernel("nobody"),
                         doctest::Contains("found kernel 'nobody', expected one of: "),
                         std::invalid_argument);
    dense::gpu::GemmPlan<float> const none{a, b.part(0, 0, 90, 0), c.part(0, 0, 130, 0), stream,
                                           asked.options};
    CHECK(none.explain() == "nothing to multiply");
    auto const zero = c.part(0, 0, 130, 70);
    dense::gpu::GemmPlan<float> const without_depth{
        a.part(0, 0, 0, 130), b.part(0, 0, 0, 70), zero, stream, {.transposes = {.a = true}}};
    without_depth(a.part(0, 0, 0, 130), b.part(0, 0, 0, 70), zero, stream);
    stream.synchronize();
    CHECK(p.c.device.download()[static_cast<std::size_t>(p.c.offset)] == 0);
}

// Blocks downwards are more than a grid of some kernels has: they are passed over.
TEST_CASE("a plan for millions of rows" * doctest::test_suite("large"))
{
    cuda::Stream const stream;
    constexpr std::int64_t rows = 4'500'000;
    cuda::Buffer<float> const a{std::vector<float>(rows, 2)};
    cuda::Buffer<float> const b{std::vector<float>(32, 3)};
    cuda::Buffer<float> c{static_cast<std::size_t>(rows * 32)};
    Matrix<float const> const left{a.data(), rows, 1};
    Matrix<float const> const right{b.data(), 1, 32};
    Matrix<float> const to{c.data(), rows, 32};
    dense::gpu::GemmPlan<float> const plan{left, right, to, stream};
    CAPTURE(plan.explain());
    plan(left, right, to, stream);
    CHECK(std::ranges::all_of(c.download(), [](float x) { return x == 6; }));
}

// Zeros that fill tiles up must not meet them: 0 times infinity is not a number.
TEST_CASE("an infinite element reaches its own row or column of the product, nothing else")
{
    cuda::Stream const stream;
    std::mt19937 random{24};
    for (auto const& step : dense::gpu::tensor_fp64_tiles()) {
        for (auto const& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{
                 {37, 45, 19}, {130, 66, 34}, {1, 9, 200}, {150, 3, 1}}) {
            for (std::int64_t const gap : {0, 1, 2}) {
                CAPTURE(m);
                CAPTURE(gap);
                CAPTURE(std::string{step.name});
                TestGemm<double> p{{m, n, k, {gap, gap, gap}}, random};
                if (!step.refuses(p.a.matrix(), p.b.matrix(), p.c.matrix()).empty()) {
                    continue;
                }
                p.a(m - 1, k - 1) = std::numeric_limits<double>::infinity();
                p.b(0, n - 1) = -std::numeric_limits<double>::infinity();
                p.a.device.upload(p.a.host);
                p.b.device.upload(p.b.host);
                step.multiply(p.a.matrix(), p.b.matrix(), p.c.matrix(), stream);
                stream.synchronize();
                p.c.host = p.c.device.download();
                std::int64_t wrong = 0;
                for (std::int64_t i = 0; i < m; ++i) {
                    for (std::int64_t j = 0; j < n; ++j) {
                        wrong += std::isfinite(p.c(i, j)) == (i == m - 1 || j == n - 1);
                    }
                }
                REQUIRE(wrong == 0);
            }
        }
    }
}
