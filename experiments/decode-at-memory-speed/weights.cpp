#include "studies.hpp"

#include "dense/gpu/gemv_steps.hpp"
#include "peers/cublas.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <utility>

namespace decode {

namespace {

using bench::bf16;
using dense::Matrix;
using dense::gpu::GemvStep;

/// cuBLAS, loaded when a trial first asks for it: not before the device is needed.
peers::CuBlas const& cublas()
{
    static peers::CuBlas const library;
    return library;
}

bench::AxisValues shapes(std::vector<bench::Parameter> values)
{
    bench::AxisValues axis;
    axis.tiny = {std::string{"96x256"}};
    axis.quick = axis.full = std::move(values);
    axis.require = [](bench::Parameter const& shape) { parse_shape(std::get<std::string>(shape)); };
    return axis;
}

/// Weights of 16 bits, vectors and what they must give.
struct GemvOperands
{
    Shape shape;
    std::int64_t vectors;
    bool is_exact;
    bench::Input<bf16> w;
    bench::Input<bf16> x;
    bench::Output<bf16> y;

    GemvOperands(bench::Trial& trial, Shape of, std::int64_t n)
        : shape{of}, vectors{n}, is_exact{!trial.is_timed()}, w{trial.input<bf16>(of.count())},
          x{trial.input<bf16>(static_cast<std::size_t>(n * of.k))},
          y{trial.output<bf16>(static_cast<std::size_t>(n * of.m))}
    {
        trial.cache(bench::Cache::cold);
    }

    void work(bench::Trial& trial, std::size_t bytes_of_weights) const
    {
        trial.work({.flops = dense::product_flops(shape.m, vectors, shape.k),
                    .bytes = static_cast<double>(bytes_of_weights + 2 * (x.size() + y.size()))});
    }

    Matrix<bf16 const> weights(cuda::Gpu& gpu) const
    {
        return {w.on(gpu).data(), shape.m, shape.k};
    }
    Matrix<bf16 const> left(cuda::Gpu& gpu) const { return {x.on(gpu).data(), vectors, shape.k}; }
    Matrix<bf16> result(cuda::Gpu& gpu) const { return {y.on(gpu).data(), vectors, shape.m}; }
};

/// The two reads of as many bytes, in memory of the weights.
void add_bound(bench::Trial& trial, GemvOperands const& p, cuda::Gpu& gpu, std::size_t bytes)
{
    auto const at = [](std::span<bf16 const> values) {
        return reinterpret_cast<std::byte const*>(values.data());
    };
    add_reads_of(
        trial, gpu, [=, w = p.w, &gpu] { return at(w.on(gpu)); },
        [=, w = p.w] { return at(w.on()); }, std::min(bytes, p.w.size() * sizeof(bf16)));
}

void expect_bf16(GemvOperands const& p, cuda::Gpu& gpu)
{
    p.y.expect(
        [p, &gpu] { return expected_products<bf16>(p.weights(gpu), p.x.on(), p.is_exact, gpu); });
}

void add_step(bench::Trial& trial, GemvOperands const& p, cuda::Gpu& gpu,
              GemvStep<Matrix<bf16 const>> const& step)
{
    std::string const name{step.name};
    trial
        .add(name,
             [=, &gpu](bench::Variant& variant) {
                 auto const w = p.weights(gpu);
                 auto const x = p.left(gpu);
                 auto const y = p.result(gpu);
                 if (auto const why = step.refuses(w, x); !why.empty()) {
                     variant.not_applicable(std::string{why});
                 }
                 return [=, &gpu] { step.multiply(w, x, {y.data, y.stride}, gpu.stream()); };
             })
        .group("step")
        .excerpt(name == "columns" ? "split_rows" : name);
}

void add_gemv(bench::Trial& trial, GemvOperands const& p, cuda::Gpu& gpu)
{
    trial
        .add("gemv",
             [=, &gpu](bench::Variant&) {
                 return [=, &gpu, w = p.weights(gpu), x = p.left(gpu), y = p.result(gpu)] {
                     dense::gpu::gemv(w, x, y, gpu.stream());
                 };
             })
        .group("library")
        .excerpt(p.vectors == 1 ? "split_rows" : "tensor_rows");
}

/// cuBLAS with the weights in the order that it likes best, the one that models are kept in: rows
/// along the sum. Then the fastest of what cuBLASLt offers.
void add_cublas(bench::Trial& trial, bench::Experiment& experiment, GemvOperands const& p,
                cuda::Gpu& gpu)
{
    auto const& library = cublas();
    if (!library.missing.empty()) {
        trial.skip("cublas", library.missing).group("peer");
        return;
    }
    experiment.library("cublas", library.version);
    constexpr auto exact = peers::CuBlas::Math::exact;
    trial
        .add("cublas",
             [=, &gpu, &library](bench::Variant&) {
                 return
                     [=, &gpu, &library, w = p.weights(gpu), x = p.left(gpu), y = p.result(gpu)] {
                         library.gemm<bf16>(x, w, y, exact, gpu.stream(), true);
                     };
             })
        .group("peer")
        .excerpt("cublas_transposed");
    trial
        .add("cublaslt",
             [=, &gpu, &library](bench::Variant& variant) {
                 peers::CuBlas::LtProduct<bf16> product{library,       p.left(gpu), p.weights(gpu),
                                                        p.result(gpu), exact,       true};
                 if (!p.is_exact) {
                     product.tune(gpu.stream());
                     variant.note(product.choice());
                 }
                 return [&gpu, product] { product(gpu.stream()); };
             })
        .group("peer");
}

/// Weights of 16 bits: every way.
void bf16_ways(bench::Trial& trial, bench::Experiment& experiment, cuda::Gpu& gpu, Shape shape,
               std::int64_t vectors)
{
    GemvOperands const p{trial, shape, vectors};
    auto const bytes = shape.count() * sizeof(bf16);
    p.work(trial, bytes);
    expect_bf16(p, gpu);
    add_bound(trial, p, gpu, bytes);
    for (auto const& step : dense::gpu::gemv_steps<Matrix<bf16 const>>()) {
        if (step.name != "naive" || vectors == 1) {
            add_step(trial, p, gpu, step);
        }
    }
    add_gemv(trial, p, gpu);
    add_cublas(trial, experiment, p, gpu);
    trial.run();
}

/// By how much products with rounded weights are off those with the weights themselves, both exact:
/// the root of the sum of squares, in parts of the products'.
double quantisation_error(bench::Expected const& rounded, bench::Expected const& exact)
{
    double off = 0;
    double whole = 0;
    for (std::size_t i = 0; i < exact.value.size(); ++i) {
        off += std::pow(rounded.value[i] - exact.value[i], 2);
        whole += std::pow(exact.value[i], 2);
    }
    return std::sqrt(off / whole);
}

/// Weights of 8 or 4 bits. What is expected are products with what these stand for.
void quantised_ways(bench::Trial& trial, cuda::Gpu& gpu, Shape shape, int bits)
{
    GemvOperands const p{trial, shape, 1};
    trial.inexact("scales of rounded weights are no integers");
    auto const held = std::make_shared<Quantised>(bits, p.weights(gpu), gpu);
    trial.on_refill([held, &gpu] { held->round_again(gpu); });
    p.work(trial, held->bytes());
    p.y.expect([=, &gpu] { return held->expected(p.x.on(), gpu); });
    add_bound(trial, p, gpu, held->bytes());
    if (held->is_eight()) {
        for (auto const& step : dense::gpu::gemv_steps<dense::gpu::Fp8Weights>()) {
            std::string const name{step.name};
            if (name == "naive") {
                continue;
            }
            trial
                .add(name,
                     [=, &gpu](bench::Variant& variant) {
                         auto const w = held->eight();
                         auto const x = p.left(gpu);
                         auto const y = p.result(gpu);
                         if (auto const why = step.refuses(w, x); !why.empty()) {
                             variant.not_applicable(std::string{why});
                         }
                         return [=, &gpu] {
                             step.multiply(w, x, {y.data, y.stride}, gpu.stream());
                         };
                     })
                .group("step")
                .excerpt(name == "columns" ? "split_rows" : name);
        }
    }
    bool const counts = trial.is_timed() && !trial.only_adds_samples();
    trial
        .add("gemv",
             [=, &gpu](bench::Variant& variant) {
                 if (counts) {
                     variant.count("quantisation_error",
                                   quantisation_error(held->expected(p.x.on(), gpu),
                                                      expected_products<bf16>(
                                                          p.weights(gpu), p.x.on(), false, gpu)));
                 }
                 return [=, &gpu, x = p.left(gpu), y = p.result(gpu)] {
                     held->multiply(x, y, gpu.stream());
                 };
             })
        .group("library")
        .excerpt("tensor_rows");
    trial.run();
}

} // namespace

Shape parse_shape(std::string const& text)
{
    Shape shape{0, 0};
    char rest = 0;
    long long m = 0;
    long long k = 0;
    constexpr long long most = 1 << 20;
    if (std::sscanf(text.c_str(), "%lldx%lld%c", &m, &k, &rest) != 2 || m < 1 || k < 8 ||
        k % 8 != 0 || m > most || k > most || m * k > (1ll << 33)) {
        throw std::invalid_argument{"--shape: found " + text +
                                    ", expected rows and columns like 8192x4096, columns a "
                                    "multiple of 8, and no more than 2^33 weights"};
    }
    shape.m = m;
    shape.k = k;
    return shape;
}

void add_weights(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto const text = [](char const* shape) { return bench::Parameter{std::string{shape}}; };
    experiment.study("weights_bf16")
        .axis("shape", shapes({text("4096x4096"), text("8192x8192"), text("57344x8192")}))
        .untyped([&](bench::Trial& trial) {
            bf16_ways(trial, experiment, gpu, parse_shape(trial.text("shape")), 1);
        });
    experiment.study("weights_fp8")
        .axis("shape", shapes({text("4096x4096"), text("16384x8192"), text("57344x8192")}))
        .untyped([&](bench::Trial& trial) {
            quantised_ways(trial, gpu, parse_shape(trial.text("shape")), 8);
        });
    experiment.study("weights_int4")
        .axis("shape", shapes({text("4096x4096"), text("16384x16384"), text("57344x8192")}))
        .untyped([&](bench::Trial& trial) {
            quantised_ways(trial, gpu, parse_shape(trial.text("shape")), 4);
        });
}

void add_vectors(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    bench::AxisValues counts;
    counts.tiny = {std::int64_t{3}};
    for (std::int64_t const n : {1, 2, 4, 8, 16}) {
        counts.quick.emplace_back(n);
    }
    counts.full = counts.quick;
    counts.require = [](bench::Parameter const& count) {
        auto const n = std::get<std::int64_t>(count);
        if (n < 1 || n > dense::gpu::most_vectors) {
            throw std::invalid_argument{"--vectors: expected 1 to 16"};
        }
    };
    experiment.study("vectors")
        .axis("shape", shapes({std::string{"8192x8192"}, std::string{"57344x8192"}}))
        .axis("vectors", counts)
        .untyped([&](bench::Trial& trial) {
            bf16_ways(trial, experiment, gpu, parse_shape(trial.text("shape")),
                      trial.integer("vectors"));
        });
}

} // namespace decode
