#include "cuda/buffer.hpp"
#include "cuda/stream.hpp"
#include "dense/gpu/gemv.hpp"
#include "dense/gpu/gemv_steps.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using base::bf16;
using base::e4m3;
using dense::Matrix;
using dense::gpu::Fp8Weights;
using dense::gpu::GemvStep;
using dense::gpu::Int4Weights;
using Bf16Weights = Matrix<bf16 const>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();

/// Numbers on the device and the host, in rows that begin `shift` elements behind where memory does
/// and have a gap of NaN.
template <class T>
struct Rows
{
    Rows(std::int64_t row_count, std::int64_t column_count, int gap, int shift)
        : rows{row_count}, columns{column_count}, stride{column_count + gap}, begin{shift},
          host(static_cast<std::size_t>(shift + row_count * stride), T{quiet_nan})
    {
    }

    T& at(std::int64_t i, std::int64_t j)
    {
        return host[static_cast<std::size_t>(begin + i * stride + j)];
    }
    Matrix<T> upload()
    {
        device = cuda::Buffer<T>{host};
        return {device.data() + begin, rows, columns, stride};
    }
    void download() { host = device.download(); }

    std::int64_t rows, columns, stride, begin;
    std::vector<T> host;
    cuda::Buffer<T> device{1};
};

template <class T, class Random>
void fill(Rows<T>& of, Random& random)
{
    std::uniform_real_distribution<double> uniform{-1, 1};
    for (std::int64_t i = 0; i < of.rows; ++i) {
        for (std::int64_t j = 0; j < of.columns; ++j) {
            of.at(i, j) = T{uniform(random)};
        }
    }
}

/// Weights of any kind, by what each of them stands for.
struct Meaning
{
    std::int64_t rows, columns;
    std::vector<double> value;

    double& at(std::int64_t i, std::int64_t j)
    {
        return value[static_cast<std::size_t>(i * columns + j)];
    }
};

struct OfBf16
{
    using W = Bf16Weights;
    template <class Random>
    OfBf16(std::int64_t m, std::int64_t k, int gap, int shift, Random& random)
        : elements{m, k, gap, shift}
    {
        fill(elements, random);
    }
    W weights(cuda::Stream const&) { return elements.upload(); }
    Meaning meaning()
    {
        Meaning made{elements.rows, elements.columns, {}};
        for (std::int64_t i = 0; i < made.rows; ++i) {
            for (std::int64_t j = 0; j < made.columns; ++j) {
                made.value.push_back(static_cast<double>(elements.at(i, j)));
            }
        }
        return made;
    }
    Rows<bf16> elements;
};

struct OfFp8
{
    using W = Fp8Weights;
    template <class Random>
    OfFp8(std::int64_t m, std::int64_t k, int gap, int shift, Random& random)
        : elements{m, k, gap, shift}
    {
        std::uniform_int_distribution<int> bits{0, 255};
        std::uniform_real_distribution<float> scale{0.5f, 2};
        for (std::int64_t i = 0; i < m; ++i) {
            scales.push_back(scale(random));
            for (std::int64_t j = 0; j < k; ++j) {
                auto& bits_of = elements.at(i, j).bits;
                do {
                    bits_of = static_cast<std::uint8_t>(bits(random));
                } while ((bits_of & 0x7f) == 0x7f);
            }
        }
    }
    W weights(cuda::Stream const&)
    {
        of_rows = cuda::Buffer<float>{scales};
        return {elements.upload(), of_rows.span()};
    }
    Meaning meaning()
    {
        Meaning made{elements.rows, elements.columns, {}};
        for (std::int64_t i = 0; i < made.rows; ++i) {
            for (std::int64_t j = 0; j < made.columns; ++j) {
                made.value.push_back(static_cast<double>(elements.at(i, j)) *
                                     static_cast<double>(scales[static_cast<std::size_t>(i)]));
            }
        }
        return made;
    }
    Rows<e4m3> elements;
    std::vector<float> scales;
    cuda::Buffer<float> of_rows{1};
};

struct OfInt4
{
    using W = Int4Weights;
    template <class Random>
    OfInt4(std::int64_t m, std::int64_t k, int gap, int shift, Random& random)
        : integers(static_cast<std::size_t>(m * k)), scales{m, (k + 127) / 128, gap, shift},
          made{m, k, std::vector<double>(static_cast<std::size_t>(m * k))},
          packed{std::max<std::size_t>(1, dense::gpu::int4_bytes(m, k))}
    {
        fill(scales, random);
        std::uniform_int_distribution<int> integer{-8, 7};
        for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < k; ++j) {
                int const drawn = integer(random);
                integers[static_cast<std::size_t>(i * k + j)] = static_cast<std::int8_t>(drawn);
                made.at(i, j) = drawn * static_cast<double>(scales.at(i, j / 128));
            }
        }
    }
    W weights(cuda::Stream const& stream)
    {
        cuda::Buffer<std::int8_t> const device{integers};
        std::span<std::byte> const to{packed.data(),
                                      dense::gpu::int4_bytes(made.rows, made.columns)};
        dense::gpu::pack_int4({device.data(), made.rows, made.columns}, scales.upload(), to,
                              stream);
        stream.synchronize();
        return {made.rows, made.columns, to};
    }
    Meaning meaning() { return made; }

    std::vector<std::int8_t> integers;
    Rows<base::fp16> scales;
    Meaning made;
    cuda::Buffer<std::byte> packed;
};

/// The largest error over what sums in float, rounded once, may be off by; NaN where a number is
/// missing, or a gap was written.
double error(Meaning& w, Rows<bf16>& x, Rows<bf16>& y)
{
    y.download();
    double worst = 0;
    for (std::int64_t v = 0; v < y.rows; ++v) {
        for (std::int64_t i = 0; i < y.columns; ++i) {
            double sum = 0;
            double magnitude = 0;
            for (std::int64_t j = 0; j < w.columns; ++j) {
                double const product = w.at(i, j) * static_cast<double>(x.at(v, j));
                sum += product;
                magnitude += std::abs(product);
            }
            double const bound = std::ldexp(magnitude, -23) * static_cast<double>(w.columns + 2) +
                                 std::ldexp(std::abs(sum), -8);
            double const off = std::abs(static_cast<double>(y.at(v, i)) - sum);
            double const relative = off == 0 ? 0 : off / bound;
            if (!(relative <= worst)) {
                worst = relative;
            }
            if (std::isnan(worst)) {
                return worst;
            }
        }
        for (std::int64_t i = y.columns; i < y.stride && v + 1 < y.rows; ++i) {
            if (!std::isnan(static_cast<double>(y.at(v, i)))) {
                return quiet_nan;
            }
        }
    }
    return worst;
}

struct Draw
{
    std::int64_t m, k, n;
    int gap, shift;
};

/// Sizes of all magnitudes, half of them multiples of 64.
std::vector<Draw> draws(int count)
{
    std::mt19937 random{56};
    std::vector<Draw> found{{1, 1, 1, 0, 0}, {17, 2048, 16, 0, 0}, {300, 130, 9, 0, 0}};
    std::uniform_real_distribution<double> exponent{0, 9};
    std::uniform_int_distribution<std::int64_t> vectors{1, 16};
    for (int i = 0; i < count; ++i) {
        auto const size = [&] {
            auto const drawn = static_cast<std::int64_t>(std::exp2(exponent(random)));
            return i % 2 == 0 ? (drawn + 63) / 64 * 64 : drawn;
        };
        found.push_back({size(), 3 * size(), vectors(random), i % 3 * 8, i % 5 == 4 ? 1 : 0});
    }
    return found;
}

} // namespace

TEST_CASE_TEMPLATE("all ways to multiply few vectors, of any shape and alignment", Of, OfBf16,
                   OfFp8, OfInt4)
{
    cuda::Stream const stream;
    std::mt19937 random{1};
    for (auto const& draw : draws(16)) {
        CAPTURE(draw.m);
        CAPTURE(draw.k);
        CAPTURE(draw.n);
        CAPTURE(draw.shift);
        Of of{draw.m, draw.k, draw.gap, draw.shift, random};
        auto const w = of.weights(stream);
        auto meaning = of.meaning();
        Rows<bf16> x{draw.n, draw.k, draw.gap, draw.shift};
        fill(x, random);
        auto const vectors = x.upload();
        for (auto const& step : dense::gpu::gemv_steps<typename Of::W>()) {
            CAPTURE(std::string{step.name});
            if (!step.refuses(w, vectors).empty()) {
                continue;
            }
            Rows<bf16> y{draw.n, draw.m, draw.gap, draw.shift};
            auto const to = y.upload();
            step.multiply(w, vectors, {to.data, to.stride}, stream);
            CHECK(error(meaning, x, y) <= 1);
        }
        if (std::is_same_v<Of, OfInt4> &&
            !dense::gpu::gemv_tensor_step<typename Of::W>().refuses(w, vectors).empty()) {
            continue;
        }
        Rows<bf16> y{draw.n, draw.m, draw.gap, draw.shift};
        dense::gpu::gemv(w, vectors, y.upload(), stream);
        CHECK(error(meaning, x, y) <= 1);
    }
}

TEST_CASE("results of few vectors are scaled and added to what was there")
{
    cuda::Stream const stream;
    std::mt19937 random{2};
    OfBf16 of{70, 128, 0, 0, random};
    Rows<bf16> x{3, 128, 0, 0};
    fill(x, random);
    auto const w = of.weights(stream);
    auto const vectors = x.upload();
    for (auto const& step : dense::gpu::gemv_steps<Bf16Weights>()) {
        CAPTURE(std::string{step.name});
        if (!step.refuses(w, vectors).empty()) {
            continue;
        }
        Rows<bf16> once{3, 70, 0, 0};
        auto const first = once.upload();
        step.multiply(w, vectors, {first.data, first.stride}, stream);
        Rows<bf16> y{70, 3, 0, 0}; // a row for each weight's, as `gemm` has it
        std::ranges::fill(y.host, bf16{4});
        auto const to = y.upload();
        step.multiply(w, vectors, {to.data, 1, 3, 2, 0.5}, stream);
        once.download();
        y.download();
        for (std::int64_t v = 0; v < 3; ++v) {
            for (std::int64_t i = 0; i < 70; ++i) {
                double const expected = 2 * static_cast<double>(once.at(v, i)) + 2;
                CHECK(std::abs(static_cast<double>(y.at(i, v)) - expected) <=
                      std::ldexp(std::abs(expected) + 4, -7));
            }
        }
    }
}

TEST_CASE("NaN and infinity reach the results that they belong to, and no others")
{
    cuda::Stream const stream;
    std::mt19937 random{3};
    for (std::int64_t const k : {64, 200, 1024}) {
        OfBf16 of{50, k, 0, 0, random};
        of.elements.at(7, k - 1) = bf16{quiet_nan};
        of.elements.at(20, 0) = bf16{infinity};
        Rows<bf16> x{9, k, 0, 0};
        for (auto& each : x.host) {
            each = bf16{0.5};
        }
        x.at(4, k / 2) = bf16{quiet_nan};
        auto const w = of.weights(stream);
        auto const vectors = x.upload();
        for (auto const& step : dense::gpu::gemv_steps<Bf16Weights>()) {
            CAPTURE(std::string{step.name});
            if (!step.refuses(w, vectors).empty()) {
                continue;
            }
            Rows<bf16> y{9, 50, 0, 0};
            auto const to = y.upload();
            step.multiply(w, vectors, {to.data, to.stride}, stream);
            y.download();
            for (std::int64_t v = 0; v < 9; ++v) {
                for (std::int64_t i = 0; i < 50; ++i) {
                    auto const found = static_cast<double>(y.at(v, i));
                    CHECK(std::isnan(found) == (v == 4 || i == 7));
                    CHECK(std::isinf(found) == (v != 4 && i == 20));
                }
            }
        }
    }
}

TEST_CASE("a NaN of 8 bits stays one")
{
    cuda::Stream const stream;
    std::mt19937 random{4};
    OfFp8 of{33, 256, 0, 0, random};
    of.elements.at(32, 255).bits = 0xff;
    Rows<bf16> x{2, 256, 0, 0};
    fill(x, random);
    auto const w = of.weights(stream);
    auto const vectors = x.upload();
    for (auto const& step : dense::gpu::gemv_steps<Fp8Weights>()) {
        CAPTURE(std::string{step.name});
        if (!step.refuses(w, vectors).empty()) {
            continue;
        }
        Rows<bf16> y{2, 33, 0, 0};
        auto const to = y.upload();
        step.multiply(w, vectors, {to.data, to.stride}, stream);
        y.download();
        CHECK(std::isnan(static_cast<double>(y.at(0, 32))));
        CHECK(!std::isnan(static_cast<double>(y.at(0, 31))));
    }
}

TEST_CASE("weights are rounded to the nearest of 8 and of 4 bits, by scales as documented")
{
    cuda::Stream const stream;
    std::mt19937 random{5};
    constexpr std::int64_t m = 37;
    constexpr std::int64_t k = 300;
    Rows<bf16> w{m, k, 4, 0};
    fill(w, random);
    for (std::int64_t j = 0; j < k; ++j) {
        w.at(5, j) = bf16{0.0};
        w.at(6, j) = bf16{j == 3 ? 448.0 : 1.0};
    }
    auto const from = w.upload();
    cuda::Buffer<e4m3> elements{m * k};
    cuda::Buffer<float> scales{m};
    dense::gpu::quantise_fp8(from, {elements.data(), m, k}, scales.span(), stream);
    cuda::Buffer<std::byte> packed{dense::gpu::int4_bytes(m, k)};
    dense::gpu::quantise_int4(from, packed.span(), stream);
    cuda::Buffer<float> eight{m * k};
    cuda::Buffer<float> four{m * k};
    Fp8Weights const of_eight{{elements.data(), m, k}, scales.span()};
    dense::gpu::dequantise(of_eight, {eight.data(), m, k}, stream);
    dense::gpu::dequantise(Int4Weights{m, k, packed.span()}, {four.data(), m, k}, stream);
    auto const found_eight = eight.download();
    auto const found_four = four.download();
    auto const found_scales = scales.download();
    for (std::int64_t i = 0; i < m; ++i) {
        auto const scale = static_cast<double>(found_scales[static_cast<std::size_t>(i)]);
        double largest = 0;
        for (std::int64_t j = 0; j < k; ++j) {
            largest = std::max(largest, std::abs(static_cast<double>(w.at(i, j))));
        }
        CHECK(std::exp2(std::round(std::log2(scale))) == scale);
        CHECK((largest == 0 ? scale == 1 : largest / scale <= 448 && largest / scale > 224));
        for (std::int64_t j = 0; j < k; ++j) {
            auto const at = static_cast<std::size_t>(i * k + j);
            auto const value = static_cast<double>(w.at(i, j));
            CHECK(static_cast<double>(found_eight[at]) ==
                  scale * static_cast<double>(e4m3{value / scale}));
            double of_group = 0;
            for (std::int64_t g = j / 128 * 128; g < std::min(k, j / 128 * 128 + 128); ++g) {
                of_group = std::max(of_group, std::abs(static_cast<double>(w.at(i, g))));
            }
            auto const step = static_cast<double>(base::fp16{of_group / 7});
            CHECK(std::abs(static_cast<double>(found_four[at]) - value) <= 0.505 * step);
        }
    }
}

TEST_CASE("groups that have a NaN are NaN")
{
    cuda::Stream const stream;
    Rows<bf16> w{16, 256, 0, 0};
    std::ranges::fill(w.host, bf16{1});
    w.at(3, 200) = bf16{quiet_nan};
    w.at(4, 1) = bf16{infinity};
    cuda::Buffer<std::byte> packed{dense::gpu::int4_bytes(16, 256)};
    cuda::Buffer<float> back{16 * 256};
    dense::gpu::quantise_int4(w.upload(), packed.span(), stream);
    dense::gpu::dequantise(Int4Weights{16, 256, packed.span()}, {back.data(), 16, 256}, stream);
    auto const found = back.download();
    for (std::size_t i = 0; i < 16; ++i) {
        for (std::size_t j = 0; j < 256; ++j) {
            bool const is_nan = (i == 3 && j >= 128) || (i == 4 && j < 128);
            CHECK(std::isnan(found[256 * i + j]) == is_nan);
        }
    }
}

TEST_CASE("no weights and no vectors are no error, and the sum over no weights is 0")
{
    cuda::Stream const stream;
    cuda::Buffer<bf16> some{64};
    Rows<bf16> y{2, 5, 0, 0};
    dense::gpu::gemv(Bf16Weights{some.data(), 5, 0}, {some.data(), 2, 0}, y.upload(), stream);
    y.download();
    for (auto const each : y.host) {
        CHECK(static_cast<double>(each) == 0);
    }
    dense::gpu::gemv(Bf16Weights{some.data(), 0, 8}, {some.data(), 2, 8}, {some.data(), 2, 0},
                     stream);
    dense::gpu::gemv(Bf16Weights{some.data(), 4, 8}, {some.data(), 0, 8}, {some.data(), 0, 4},
                     stream);
    stream.synchronize();
}
