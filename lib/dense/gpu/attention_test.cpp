#include "cuda/buffer.hpp"
#include "cuda/stream.hpp"
#include "dense/gpu/attention.hpp"
#include "dense/gpu/attention_steps.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace {

using base::bf16;
using dense::gpu::AttentionOptions;
using dense::gpu::AttentionShape;

constexpr std::size_t size = dense::gpu::head_size;

/// A cache and a query, random and on both sides.
struct Cache
{
    template <class Random>
    Cache(AttentionShape const& of, double spread, Random& random)
        : shape{of}, query{numbers(count(of.batch * of.heads), spread, random)},
          keys{numbers(count(of.batch * of.shared * of.words), 1, random)},
          values{numbers(count(of.batch * of.shared * of.words), 1, random)}
    {
    }

    static std::size_t count(std::int64_t rows) { return static_cast<std::size_t>(rows) * size; }

    template <class Random>
    static std::vector<bf16> numbers(std::size_t count, double spread, Random& random)
    {
        std::normal_distribution<double> normal{0, spread};
        std::vector<bf16> made;
        for (std::size_t i = 0; i < count; ++i) {
            made.emplace_back(normal(random));
        }
        return made;
    }

    std::vector<bf16> attend(AttentionOptions const& options, cuda::Stream const& stream) const
    {
        cuda::Buffer<bf16> const q{query};
        cuda::Buffer<bf16> const k{keys};
        cuda::Buffer<bf16> const v{values};
        cuda::Buffer<bf16> result{std::vector<bf16>(query.size(), bf16{-99})};
        dense::gpu::attention_decode(shape, {q.data(), k.data(), v.data(), result.data()}, stream,
                                     options);
        stream.synchronize();
        return result.download();
    }

    /// The largest error over what roundings to bf16 of weights and result, and to float of the
    /// exponents, may cost; NaN where one of both is.
    double error(std::vector<bf16> const& found, double scale) const
    {
        auto const words = static_cast<std::size_t>(shape.words);
        auto const sharing = static_cast<std::size_t>(shape.heads / shape.shared);
        double worst = 0;
        for (std::size_t head = 0; head < query.size() / size; ++head) {
            auto const cache = head / sharing * words * size;
            std::vector<double> weight(words);
            double largest = -std::numeric_limits<double>::infinity();
            double most = 0; // magnitude of products
            for (std::size_t w = 0; w < words; ++w) {
                double magnitude = 0;
                for (std::size_t e = 0; e < size; ++e) {
                    double const product = static_cast<double>(query[head * size + e]) *
                                           static_cast<double>(keys[cache + w * size + e]);
                    weight[w] += scale * product;
                    magnitude += std::abs(scale * product);
                }
                largest = std::max(largest, weight[w]);
                most = std::max(most, magnitude);
            }
            double total = 0;
            for (double& each : weight) {
                each = std::exp(each - largest);
                total += each;
            }
            for (std::size_t e = 0; e < size; ++e) {
                double sum = 0;
                double magnitude = 0;
                for (std::size_t w = 0; w < words; ++w) {
                    double const product =
                        weight[w] / total * static_cast<double>(values[cache + w * size + e]);
                    sum += product;
                    magnitude += std::abs(product);
                }
                double const bound = magnitude * (std::ldexp(1, -8) + std::ldexp(most, -15)) +
                                     std::ldexp(std::abs(sum), -8) + 1e-30;
                double const off = std::abs(static_cast<double>(found[head * size + e]) - sum);
                if (!(off / bound <= worst)) {
                    worst = off / bound;
                }
                if (std::isnan(worst)) {
                    return worst;
                }
            }
        }
        return worst;
    }

    AttentionShape shape;
    std::vector<bf16> query, keys, values;
};

} // namespace

TEST_CASE("attention over caches of any length, shared by any heads, in any number of parts")
{
    if (!dense::gpu::refuses_attention().empty()) {
        return;
    }
    cuda::Stream const stream;
    std::mt19937 random{7};
    for (auto const& shape : std::vector<AttentionShape>{{1, 1, 1, 1},
                                                         {1, 8, 1, 15},
                                                         {2, 6, 2, 257},
                                                         {1, 8, 2, 1000},
                                                         {3, 7, 1, 33},
                                                         {1, 3, 3, 640}}) {
        CAPTURE(shape.heads);
        CAPTURE(shape.words);
        for (double const spread : {1.0, 30.0}) {
            Cache const cache{shape, spread, random};
            for (std::int64_t const parts : {0, 1, 2, 19, 200}) {
                CAPTURE(parts);
                if (parts <= shape.words) {
                    AttentionOptions options;
                    options.parts = parts;
                    CHECK(cache.error(cache.attend(options, stream), options.scale) <= 1);
                }
            }
        }
    }
}

TEST_CASE("attention of heads apart, which read the keys for themselves, is the same")
{
    if (!dense::gpu::refuses_attention().empty()) {
        return;
    }
    cuda::Stream const stream;
    std::mt19937 random{8};
    AttentionShape const shape{2, 8, 2, 300};
    Cache const cache{shape, 1, random};
    cuda::Buffer<bf16> const q{cache.query};
    cuda::Buffer<bf16> const k{cache.keys};
    cuda::Buffer<bf16> const v{cache.values};
    cuda::Buffer<bf16> result{cache.query.size()};
    for (int const parts : {1, 3}) {
        dense::gpu::AttentionPlan const plan{parts, 1};
        cuda::Buffer<std::byte> memory{dense::gpu::attention_part_bytes(shape, plan) + 1};
        dense::gpu::launch_attention(shape, {q.data(), k.data(), v.data(), result.data()}, plan,
                                     0.25, memory.data(), stream);
        CHECK(cache.error(result.download(), 0.25) <= 1);
    }
}

TEST_CASE("attention repeats bit for bit, and with a workspace of one's own")
{
    if (!dense::gpu::refuses_attention().empty()) {
        return;
    }
    cuda::Stream const stream;
    std::mt19937 random{9};
    Cache const cache{{1, 16, 2, 2000}, 1, random};
    auto const first = cache.attend({}, stream);
    cuda::Buffer<std::byte> memory{
        std::max<std::size_t>(1, dense::gpu::attention_workspace_bytes(cache.shape))};
    AttentionOptions options;
    options.workspace = memory.span();
    auto const second = cache.attend(options, stream);
    for (std::size_t i = 0; i < first.size(); ++i) {
        CHECK(first[i].bits == second[i].bits);
    }
}

TEST_CASE("a NaN among keys or values reaches the heads that it belongs to")
{
    if (!dense::gpu::refuses_attention().empty()) {
        return;
    }
    cuda::Stream const stream;
    std::mt19937 random{10};
    bf16 const nan{std::numeric_limits<double>::quiet_NaN()};
    for (std::int64_t const parts : {1, 4}) {
        Cache cache{{1, 8, 2, 100}, 1, random};
        cache.keys[99 * size + 5] = nan;                 // of the first shared head
        cache.values[100 * size + 40 * size + 17] = nan; // of the second
        AttentionOptions options;
        options.parts = parts;
        auto const found = cache.attend(options, stream);
        for (std::size_t i = 0; i < found.size(); ++i) {
            bool const is_first = i < 4 * size;
            CHECK(std::isnan(static_cast<double>(found[i])) == (is_first || i % size == 17));
        }
    }
}
