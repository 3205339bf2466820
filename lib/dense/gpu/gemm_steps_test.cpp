#include "cuda/buffer.hpp"
#include "cuda/stream.hpp"
#include "dense/gpu/gemm.hpp"
#include "dense/gpu/gemm_steps.hpp"
#include "dense/gpu/reference.hpp"
#include "dense/gpu/softmax.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using dense::Matrix;

/// Numbers in device memory, and the host's copy.
template <class T>
struct Shared
{
    template <class Random>
    Shared(std::int64_t count, Random& random)
        : host(static_cast<std::size_t>(count)), device(static_cast<std::size_t>(count) + 1)
    {
        std::uniform_real_distribution<double> uniform{-1, 1};
        for (T& each : host) {
            each = static_cast<T>(uniform(random));
        }
        cuda::copy_to_device(device.data(), host.data(), host.size() * sizeof(T));
    }

    std::vector<T> host;
    cuda::Buffer<T> device;
};

template <class T>
struct Operands
{
    template <class Random>
    Operands(std::int64_t rows, std::int64_t columns, std::int64_t depth, Random& random)
        : m{rows}, n{columns}, k{depth}, a{m * k, random}, b{k * n, random}, c{m * n, random}
    {
        std::vector<T> const poison(c.host.size() + 1, std::numeric_limits<T>::quiet_NaN());
        cuda::copy_to_device(c.device.data(), poison.data(), poison.size() * sizeof(T));
    }

    Matrix<T const> left() const { return {a.device.data(), m, k}; }
    Matrix<T const> right() const { return {b.device.data(), k, n}; }
    Matrix<T> product() { return {c.device.data(), m, n}; }

    /// The largest error over what a sum of k products in `T` may be off by, and twice `rounding`
    /// of its magnitude.
    double error(double rounding)
    {
        auto const found = c.device.download();
        double const unit =
            std::numeric_limits<T>::epsilon() * static_cast<double>(k + 2) + 2 * rounding;
        double worst = 0;
        for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                double sum = 0;
                double magnitude = 0;
                for (std::int64_t l = 0; l < k; ++l) {
                    double const each =
                        static_cast<double>(a.host[static_cast<std::size_t>(i * k + l)]) *
                        static_cast<double>(b.host[static_cast<std::size_t>(l * n + j)]);
                    sum += each;
                    magnitude += std::abs(each);
                }
                double const off =
                    std::abs(static_cast<double>(found[static_cast<std::size_t>(i * n + j)]) - sum);
                double const relative = magnitude == 0 && off == 0 ? 0 : off / (unit * magnitude);
                worst = std::isnan(relative) ? relative : std::max(worst, relative);
                if (std::isnan(worst)) {
                    return worst;
                }
            }
        }
        return worst;
    }

    std::int64_t m, n, k;
    Shared<T> a, b, c;
};

using Shapes = std::vector<std::array<std::int64_t, 3>>;

/// For a sanitizer: whole tiles, parts of tiles, less than one.
Shapes const few{{1, 1, 1}, {64, 96, 128}, {31, 33, 35}, {129, 257, 17}, {70, 11, 300}};

Shapes many()
{
    Shapes found{{32, 32, 32}, {312, 11, 1000}, {256, 128, 1024}, {1, 300, 2}, {300, 1, 70}};
    std::mt19937 random{3};
    std::uniform_int_distribution<std::int64_t> size{1, 200};
    for (int i = 0; i < 8; ++i) {
        found.push_back({size(random), size(random), size(random)});
    }
    return found;
}

template <class T>
void check_steps(std::vector<dense::gpu::Step<T>> const& steps,
                 std::vector<double> const& roundings, Shapes const& shapes)
{
    std::mt19937 random{4};
    cuda::Stream const stream;
    for (auto const& shape : shapes) {
        std::int64_t const m = shape[0];
        std::int64_t const n = shape[1];
        std::int64_t const k = shape[2];
        for (std::size_t s = 0; s < steps.size(); ++s) {
            CAPTURE(std::string{steps[s].name});
            CAPTURE(m);
            CAPTURE(n);
            CAPTURE(k);
            Operands<T> p{m, n, k, random};
            if (steps[s].refuses(p.left(), p.right(), p.product()).empty()) {
                steps[s].multiply(p.left(), p.right(), p.product(), stream);
                stream.synchronize();
                REQUIRE(p.error(roundings.empty() ? 0 : roundings[s]) <= 1);
            }
        }
    }
}

std::vector<double> const tensor_roundings{0x1p-11, 0x1p-21, 0x1p-8, 0x1p-11,
                                           0x1p-21, 0x1p-11, 0x1p-21};

/// Steps that the current device has.
std::vector<dense::gpu::Step<float>> usable(std::vector<dense::gpu::Step<float>> steps)
{
    Matrix<float> const none;
    std::erase_if(steps, [&](auto const& step) { return !step.refuses(none, none, none).empty(); });
    return steps;
}

/// Multiplies parts of larger matrices, which begin so many elements behind an aligned one, and
/// says whether nothing else of the result's was written.
void check_parts(dense::gpu::Step<float> const& step, std::array<std::int64_t, 3> const& shape,
                 std::array<std::int64_t, 3> const& begins, std::int64_t gap, double rounding)
{
    auto const [m, n, k] = shape;
    std::mt19937 random{9};
    cuda::Stream const stream;
    Shared<float> a{m * (k + gap), random};
    Shared<float> b{k * (n + gap), random};
    cuda::Buffer<float> c{std::vector<float>(static_cast<std::size_t>(m * (n + gap)), NAN)};
    Matrix<float const> const left{a.device.data() + begins[0], m, k, k + gap};
    Matrix<float const> const right{b.device.data() + begins[1], k, n, n + gap};
    Matrix<float> const product{c.data() + begins[2], m, n, n + gap};
    REQUIRE(step.refuses(left, right, product).empty());
    step.multiply(left, right, product, stream);
    stream.synchronize();
    auto const found = c.download();
    auto const at = [](auto const& in, std::int64_t i) { return in[static_cast<std::size_t>(i)]; };
    double const unit =
        std::numeric_limits<float>::epsilon() * static_cast<double>(k + 2) + 2 * rounding;
    double worst = 0;
    for (std::int64_t e = 0; e < m * (n + gap); ++e) {
        std::int64_t const i = (e - begins[2] + n + gap) / (n + gap) - 1;
        std::int64_t const j = e - begins[2] - i * (n + gap);
        if (i < 0 || j >= n) {
            REQUIRE(std::isnan(at(found, e)));
            continue;
        }
        double sum = 0;
        double magnitude = 0;
        for (std::int64_t l = 0; l < k; ++l) {
            double const each = double{at(a.host, begins[0] + i * (k + gap) + l)} *
                                double{at(b.host, begins[1] + l * (n + gap) + j)};
            sum += each;
            magnitude += std::abs(each);
        }
        double const off = std::abs(double{at(found, e)} - sum) / (unit * magnitude);
        REQUIRE(off <= 1);
        worst = std::max(worst, off);
    }
    CHECK(worst > 0); // something was rounded
}

} // namespace

TEST_CASE("products in every step")
{
    check_steps(dense::gpu::gemm_steps<float>(), {}, few);
    check_steps(dense::gpu::gemm_steps<double>(), {}, few);
}

TEST_CASE("products by any number of threads")
{
    std::mt19937 random{5};
    cuda::Stream const stream;
    for (std::int64_t const threads : {32, 64, 1024, 8192}) {
        Operands<float> p{70, 33, 45, random};
        dense::gpu::multiply_by_threads(p.left(), p.right(), p.product(), threads, stream);
        stream.synchronize();
        CHECK(p.error(0) <= 1);
        for (auto const wrong : {std::int64_t{0}, threads - 1, -threads}) {
            CHECK_THROWS_AS(
                dense::gpu::multiply_by_threads(p.left(), p.right(), p.product(), wrong, stream),
                std::invalid_argument);
        }
    }
}

TEST_CASE("products on tensor cores, and what their rounding costs")
{
    check_steps(dense::gpu::tensor_gemm_steps(), tensor_roundings, few);
}

TEST_CASE("what is no number stays none on tensor cores")
{
    std::mt19937 random{10};
    cuda::Stream const stream;
    for (auto const& step : usable(dense::gpu::tensor_gemm_steps())) {
        CAPTURE(std::string{step.name});
        for (std::int64_t const n : {40, 41}) {
            Operands<float> p{50, n, 60, random};
            p.a.host[5 * 60 + 7] = NAN;
            p.b.host[static_cast<std::size_t>(9 * n + 3)] = __builtin_bit_cast(float, 0x7fffffff);
            cuda::copy_to_device(p.a.device.data(), p.a.host.data(), 50 * 60 * sizeof(float));
            cuda::copy_to_device(p.b.device.data(), p.b.host.data(),
                                 p.b.host.size() * sizeof(float));
            step.multiply(p.left(), p.right(), p.product(), stream);
            stream.synchronize();
            auto const found = p.c.device.download();
            for (std::int64_t i = 0; i < 50; ++i) {
                for (std::int64_t j = 0; j < n; ++j) {
                    REQUIRE(std::isnan(found[static_cast<std::size_t>(i * n + j)]) ==
                            (i == 5 || j == 3));
                }
            }
        }
    }
}

TEST_CASE("Hopper's products of floats between gaps, from any alignment")
{
    for (auto const& step : usable(dense::gpu::tensor_gemm_steps())) {
        if (!step.name.starts_with("wgmma_")) {
            continue;
        }
        CAPTURE(std::string{step.name});
        double const rounding = step.name == "wgmma_tf32" ? 0x1p-11 : 0x1p-21;
        check_parts(step, {132, 136, 44}, {0, 4, 2}, 4, rounding); // by the copy engine
        check_parts(step, {132, 136, 44}, {1, 4, 2}, 4, rounding); // b by it, a from one before
        check_parts(step, {131, 137, 45}, {0, 0, 0}, 3, rounding); // sizes of no multiples
        check_parts(step, {131, 137, 45}, {3, 1, 2}, 4, rounding); // four classes, b by hand
        check_parts(step, {2, 3, 130}, {1, 2, 0}, 5, rounding);    // less rows than classes
    }
}

TEST_CASE("Hopper's products of floats in more tiles than there is room for" *
          doctest::test_suite("large"))
{
    for (auto const& step : usable(dense::gpu::tensor_gemm_steps())) {
        if (step.name.starts_with("wgmma_")) {
            CAPTURE(std::string{step.name});
            double const rounding = step.name == "wgmma_tf32" ? 0x1p-11 : 0x1p-21;
            check_parts(step, {1500, 4100, 40}, {0, 0, 0}, 4, rounding);
            check_parts(step, {1501, 4101, 41}, {1, 2, 3}, 4, rounding);
        }
    }
}

TEST_CASE("sums leave tensor cores in time" * doctest::test_suite("large"))
{
    std::mt19937 random{11};
    cuda::Stream const stream;
    auto const error_of = [&](Operands<float>& p, auto const& steps, std::string_view name) {
        auto const step = std::ranges::find(steps, name, &dense::gpu::Step<float>::name);
        step->multiply(p.left(), p.right(), p.product(), stream);
        stream.synchronize();
        return p.error(0);
    };
    auto const tensor = usable(dense::gpu::tensor_gemm_steps());
    if (std::ranges::count(tensor, "wgmma_3xtf32", &dense::gpu::Step<float>::name) == 0) {
        MESSAGE("skipped: this GPU is no Hopper");
        return;
    }
    for (std::int64_t const depth : {256, 16384}) {
        Operands<float> p{64, 64, depth, random};
        CHECK(error_of(p, tensor, "wgmma_3xtf32") <=
              2 * error_of(p, dense::gpu::gemm_steps<float>(), "warp_tiles"));
    }
}

// Apart from those above, as their kernels are the same.
TEST_CASE("products of every shape" * doctest::test_suite("large"))
{
    check_steps(dense::gpu::gemm_steps<float>(), {}, many());
    check_steps(dense::gpu::gemm_steps<double>(), {}, many());
    check_steps(dense::gpu::tensor_gemm_steps(), tensor_roundings, many());
}

namespace {

/// Does a listing of the article compute something else than the product, at one of 20 attempts?
bool fails(std::string_view name)
{
    auto const steps = dense::gpu::wrong_gemm_steps();
    auto const step = std::ranges::find(steps, name, &dense::gpu::Step<float>::name);
    REQUIRE(step != steps.end());
    std::mt19937 random{5};
    cuda::Stream const stream;
    for (int attempt = 0; attempt < 20; ++attempt) {
        Operands<float> p{512, 1000, 700, random};
        step->multiply(p.left(), p.right(), p.product(), stream);
        stream.synchronize();
        if (!(p.error(0) <= 1))
            return true;
    }
    return false;
}

} // namespace

// racecheck must find it: .ci/gpu-tests goes by this name's beginning.
TEST_CASE("planted race: the article's listing that lacks a barrier fails")
{
    CHECK(fails("shared_row_without_barrier"));
}

TEST_CASE("the article's guards ask for the wrong thing, and fail")
{
    CHECK(fails("tile_2d_article_guards"));
}

TEST_CASE_TEMPLATE("products for users: any size, nothing at all, and what is refused", T, float,
                   double)
{
    std::mt19937 random{6};
    cuda::Stream const stream;
    Operands<T> p{700, 900, 33, random};
    dense::gpu::gemm<T>(p.left(), p.right(), p.product(), stream);
    stream.synchronize();
    CHECK(p.error(0) <= 1);
    dense::gpu::gemm<T>(Matrix<T const>{nullptr, 700, 0}, Matrix<T const>{nullptr, 0, 900},
                        p.product(), stream);
    stream.synchronize();
    auto const zeros = p.c.device.download();
    CHECK(std::accumulate(zeros.begin(), zeros.end() - 1, T{0}) == 0);
    dense::gpu::gemm<T>(Matrix<T const>{nullptr, 0, 33}, p.right(), Matrix<T>{nullptr, 0, 900},
                        stream);
    CHECK_THROWS_AS(dense::gpu::gemm<T>(p.left(), p.left(), p.product(), stream),
                    std::invalid_argument);
    auto const c = p.product();
    T* const at = c.data;
    CHECK_THROWS_AS(dense::gpu::gemm({at + 699, 700, 33}, p.right(), c, stream),
                    std::invalid_argument);
    CHECK_THROWS_AS(dense::gpu::gemm(p.left(), {at + 629'999, 33, 900}, c, stream),
                    std::invalid_argument); // by the last element
    constexpr std::int64_t wide = std::int64_t{1} << 32;
    CHECK_THROWS_AS(
        dense::gpu::gemm<T>({at, wide, wide}, {at, wide, wide}, {at, wide, wide}, stream),
        std::invalid_argument);
    CHECK_THROWS_AS(dense::gpu::gemm<T>({nullptr, 700, 33}, p.right(), c, stream),
                    std::invalid_argument);
}

TEST_CASE("operands of any constness on a GPU")
{
    cuda::Stream const stream;
    cuda::Buffer a{std::vector<double>{1, 2, 3, 4, 5, 6}};
    cuda::Buffer const b{std::vector<double>{1, 0, 0, 1, 1, 1}};
    cuda::Buffer<double> c{4};
    std::int64_t const m = 2;
    Matrix const to{c.data(), m, m};
    auto const check = [&] {
        stream.synchronize();
        CHECK(c.download() == std::vector<double>{4, 5, 10, 11});
        c.upload(std::vector<double>(4, -1.0));
    };
    dense::gpu::gemm<double>({a.data(), m, 3}, {b.data(), 3, m}, {c.data(), m, m}, stream);
    check();
    dense::gpu::gemm({a.data(), m, 3}, {b.data(), 3, m}, to, stream);
    check();
    dense::gpu::gemm(Matrix{a.data(), m, 3}, Matrix{b.data(), 3, m}, to, stream);
    check();
    cuda::Buffer<double> const ones{std::vector<double>(4, 1.0)};
    using dense::gpu::Softmax;
    dense::gpu::softmax<double>(Softmax::probabilities, c.data(), c.data(), 2, 2, stream);
    dense::gpu::softmax(Softmax::probabilities, ones.data(), c.data(), 2, 2, stream);
    dense::gpu::softmax(Softmax::probabilities, c.data(), a.data(), 2, 2, stream);
    stream.synchronize();
    CHECK(c.download() == std::vector<double>(4, 0.5));
}

TEST_CASE("the reference of large products")
{
    std::mt19937 random{7};
    cuda::Stream const stream;
    Operands<double> p{20, 30, 40, random};
    std::vector<double> value(100);
    std::vector<double> magnitude(100);
    dense::gpu::reference_product<double>(p.left(), p.right(), 170, value, magnitude, stream);
    for (std::size_t e = 0; e < value.size(); ++e) {
        std::size_t const i = (170 + e) / 30;
        std::size_t const j = (170 + e) % 30;
        double sum = 0;
        double absolute = 0;
        for (std::size_t l = 0; l < 40; ++l) {
            double const each = p.a.host[i * 40 + l] * p.b.host[l * 30 + j];
            sum += each;
            absolute += std::abs(each);
        }
        REQUIRE(value[e] == doctest::Approx(sum).epsilon(1e-12));
        REQUIRE(magnitude[e] == doctest::Approx(absolute).epsilon(1e-12));
    }
}
