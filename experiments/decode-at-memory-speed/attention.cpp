#include "studies.hpp"

#include "bench/all_processors.hpp"
#include "cuda/buffer.hpp"
#include "dense/gpu/attention.hpp"
#include "dense/gpu/attention_steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace decode {

namespace {

using bench::bf16;
using dense::gpu::AttentionOperands;
using dense::gpu::AttentionPlan;
using dense::gpu::AttentionShape;

constexpr std::size_t size = dense::gpu::head_size;
constexpr double scale = 0.08838834764831845; // 1 / sqrt(128)

/// From `16x2048`: sequences, and words in the cache of each.
AttentionShape parse_cache(std::string const& text)
{
    long long batch = 0;
    long long words = 0;
    char rest = 0;
    if (std::sscanf(text.c_str(), "%lldx%lld%c", &batch, &words, &rest) != 2 || batch < 1 ||
        words < 1 || batch > 64 || words > (1 << 20) || batch * words > (1 << 21)) {
        throw std::invalid_argument{"--sequences: found " + text +
                                    ", expected sequences and words like 16x2048, and no more "
                                    "than 2^21 words"};
    }
    return {batch, 64, 8, words};
}

bench::AxisValues caches()
{
    bench::AxisValues values;
    values.tiny = {std::string{"2x300"}};
    for (char const* const cache :
         {"1x1024", "1x8192", "1x32768", "1x131072", "16x1024", "16x2048", "16x8192"}) {
        values.quick.emplace_back(std::string{cache});
    }
    values.full = values.quick;
    values.require = [](bench::Parameter const& cache) {
        parse_cache(std::get<std::string>(cache));
    };
    return values;
}

/// A cache, a query and what attention must give.
struct Sequences
{
    AttentionShape shape;
    bench::Input<bf16> query;
    bench::Input<bf16> cache; ///< keys, then values
    bench::Output<bf16> result;

    Sequences(bench::Trial& trial, AttentionShape const& of)
        : shape{of}, query{trial.input<bf16>(rows(of.batch * of.heads))},
          cache{trial.input<bf16>(2 * rows(of.batch * of.shared * of.words))},
          result{trial.output<bf16>(rows(of.batch * of.heads))}
    {
        trial.cache(bench::Cache::cold);
        trial.inexact("an exponential is no number that a computer can hold");
        trial.work({.flops = 4.0 * static_cast<double>(shape.words * shape.batch * shape.heads) *
                             static_cast<double>(size),
                    .bytes = 2.0 * static_cast<double>(cache.size() + 2 * query.size())});
        result.expect([p = *this] { return p.expected(); });
    }

    static std::size_t rows(std::int64_t count) { return static_cast<std::size_t>(count) * size; }

    AttentionOperands on(cuda::Gpu& gpu) const
    {
        auto const* const keys = cache.on(gpu).data();
        return {query.on(gpu).data(), keys, keys + cache.size() / 2, result.on(gpu).data()};
    }

private:
    /// In double precision, head by head.
    bench::Expected expected() const
    {
        bench::Expected made{std::vector<double>(result.size()),
                             std::vector<double>(result.size())};
        constexpr std::size_t of_head = 1 << 16; // so that heads are worth a processor each
        auto const heads = result.size() / size;
        bench::on_all_processors(heads * of_head, [&](std::size_t begin, std::size_t end) {
            for (auto head = (begin + of_head - 1) / of_head; head * of_head < end; ++head) {
                attend(head, made.value.data() + head * size, made.bound.data() + head * size);
            }
        });
        return made;
    }

    void attend(std::size_t head, double* value, double* bound) const
    {
        auto const words = static_cast<std::size_t>(shape.words);
        auto const sharing = static_cast<std::size_t>(shape.heads / shape.shared);
        bf16 const* const q = query.on().data() + head * size;
        bf16 const* const keys = cache.on().data() + head / sharing * words * size;
        bf16 const* const values = keys + cache.size() / 2;
        std::vector<double> weight(words);
        double most = 0; // magnitude of the products of an exponent
        for (std::size_t w = 0; w < words; ++w) {
            double magnitude = 0;
            for (std::size_t e = 0; e < size; ++e) {
                double const product = scale * static_cast<double>(static_cast<float>(q[e])) *
                                       static_cast<double>(static_cast<float>(keys[w * size + e]));
                weight[w] += product;
                magnitude += std::abs(product);
            }
            most = std::max(most, magnitude);
        }
        double const largest = *std::ranges::max_element(weight);
        double total = 0;
        for (double& each : weight) {
            each = std::exp(each - largest);
            total += each;
        }
        for (std::size_t w = 0; w < words; ++w) {
            for (std::size_t e = 0; e < size; ++e) {
                double const product =
                    weight[w] / total *
                    static_cast<double>(static_cast<float>(values[w * size + e]));
                value[e] += product;
                bound[e] += std::abs(product);
            }
        }
        // Weights are rounded to bf16, exponents are sums in float, the result is rounded once.
        for (std::size_t e = 0; e < size; ++e) {
            bound[e] = bound[e] * (0x1p-8 + 0x1p-15 * most) + 0x1p-8 * std::abs(value[e]);
        }
    }
};

/// A plan of one's own: to see what splitting and sharing are worth.
void add_plan(bench::Trial& trial, Sequences const& p, cuda::Gpu& gpu, std::string const& name,
              AttentionPlan const& plan)
{
    trial
        .add(name,
             [=, &gpu](bench::Variant&) {
                 auto const memory = std::make_shared<cuda::Buffer<std::byte>>(
                     dense::gpu::attention_part_bytes(p.shape, plan) + 1);
                 return [=, &gpu, operands = p.on(gpu)] {
                     dense::gpu::launch_attention(p.shape, operands, plan,
                                                  static_cast<float>(scale), memory->data(),
                                                  gpu.stream());
                 };
             })
        .group("step")
        .excerpt("attention_decode");
}

void attend(bench::Trial& trial, cuda::Gpu& gpu)
{
    Sequences const p{trial, parse_cache(trial.text("sequences"))};
    add_reads_of(
        trial, gpu,
        [=, &gpu] { return reinterpret_cast<std::byte const*>(p.cache.on(gpu).data()); },
        [=] { return reinterpret_cast<std::byte const*>(p.cache.on().data()); },
        p.cache.size() * sizeof(bf16));
    if (auto const why = dense::gpu::refuses_attention(); !why.empty()) {
        trial.skip("attention", std::string{why}).group("library");
        trial.run();
        return;
    }
    auto const sharing = static_cast<int>(p.shape.heads / p.shape.shared);
    add_plan(trial, p, gpu, "one_part", {1, sharing});
    add_plan(trial, p, gpu, "each_head_apart", {1, 1});
    trial
        .add("attention",
             [=, &gpu](bench::Variant&) {
                 auto const memory = std::make_shared<cuda::Buffer<std::byte>>(
                     std::max<std::size_t>(1, dense::gpu::attention_workspace_bytes(p.shape)));
                 dense::gpu::AttentionOptions options;
                 options.workspace = memory->span();
                 return [=, &gpu, operands = p.on(gpu)] {
                     static_cast<void>(memory); // kept alive
                     dense::gpu::attention_decode(p.shape, operands, gpu.stream(), options);
                 };
             })
        .group("library")
        .excerpt("attention_decode");
    trial.run();
}

} // namespace

void add_attention(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    experiment.study("attention").axis("sequences", caches()).untyped([&](bench::Trial& trial) {
        attend(trial, gpu);
    });
}

} // namespace decode
