#include "gpu_product.hpp"

#include "ceilings/device_probes.hpp"
#include "cuda/buffer.hpp"
#include "cuda/device.hpp"
#include "dense/gpu/gemm.hpp"
#include "dense/gpu/gemm_plan.hpp"
#include "dense/gpu/gemm_steps.hpp"
#include "peers/cublas.hpp"

#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

/// The studies that need CUDA.
namespace gemm {

namespace {

using dense::gpu::Precision;
using Math = peers::CuBlas::Math;

/// The marked text of a step.
std::string excerpt_of(std::string const& step)
{
    return step == "split_k"                ? "async_copies"
           : step.starts_with("fragments_") ? "fragments"
           : step == "tensor_fp64"          ? "tensor_fp64"
           : step.starts_with("tensor_")    ? "tensor_tiles"
           : step == "bf16_tma_wide"        ? "bf16_tma"
           : step == "bf16_unordered"       ? "bf16_persistent"
                                            : step;
}

constexpr double tf32_rounding = 0x1p-10; // tensor cores may cut off what TF32 does not keep
constexpr double three_tf32_rounding = 0x1p-21;
constexpr double bf16_rounding = 0x1p-8;

template <class T>
void add_step(bench::Trial& trial, GpuProduct<T> const& p, dense::gpu::Step<T> const& step,
              cuda::Gpu& gpu, std::string const& group, double rounding)
{
    auto const name = std::string{step.name};
    if (!is_asked_for(name)) {
        return;
    }
    auto const refusal = step.refuses(p.left(gpu), p.right(gpu), p.product(gpu));
    if (!refusal.empty()) {
        trial.skip(name, std::string{refusal}).group(group);
        return;
    }
    trial
        .add(name,
             [=, &gpu](bench::Variant& variant) {
                 return repeated([=, &gpu, a = p.left(gpu), b = p.right(gpu),
                                  c = p.result_of(variant, gpu, rounding)] {
                     step.multiply(a, b, c, gpu.stream());
                 });
             })
        .group(group)
        .excerpt(excerpt_of(name));
}

/// The steps, from the article's on.
template <class T>
void add_steps(bench::Trial& trial, GpuProduct<T> const& p, cuda::Gpu& gpu)
{
    auto const products = p.shape.m * p.shape.n * p.shape.k;
    for (auto const& step : dense::gpu::gemm_steps<T>()) {
        bool const is_article = step.name == "one_thread_1d" || step.name == "shared_row_1d" ||
                                step.name.starts_with("tile_2d");
        if (!is_article || products <= (std::int64_t{1} << 36)) {
            add_step(trial, p, step, gpu, is_article ? "article" : "step", 0);
        }
    }
    if constexpr (!is_half<T>) {
        if (is_asked_for("triple_loop") && products <= (std::int64_t{1} << 26)) {
            trial
                .add("triple_loop",
                     [p] {
                         dense::triple_loop<T>({p.a.on().data(), p.shape.m, p.shape.k},
                                               {p.b.on().data(), p.shape.k, p.shape.n},
                                               {p.c.on().data(), p.shape.m, p.shape.n});
                     })
                .on(bench::host())
                .group("host");
        }
    }
    if constexpr (std::is_same_v<T, float>) {
        for (auto const& step : dense::gpu::tensor_gemm_steps()) {
            double const rounding = step.name.ends_with("_bf16")     ? bf16_rounding
                                    : step.name.ends_with("_3xtf32") ? three_tf32_rounding
                                                                     : tf32_rounding;
            add_step(trial, p, step, gpu, "tensor", rounding);
        }
    }
    if constexpr (std::is_same_v<T, bench::bf16>) {
        for (auto const& step : dense::gpu::bf16_gemm_steps()) {
            add_step(trial, p, step, gpu, "step", 0);
        }
        for (auto const& step : dense::gpu::bf16_gemm_removals()) {
            add_step(trial, p, step, gpu, "removal", 0);
        }
    }
}

/// A product of the library: `prepare(variant, a, b, c)` returns what is timed.
template <class T, class Prepare>
void add_library(bench::Trial& trial, GpuProduct<T> const& p, cuda::Gpu& gpu,
                 std::string const& name, std::string const& excerpt, double rounding,
                 Prepare prepare)
{
    if (!is_asked_for(name)) {
        return;
    }
    trial
        .add(name,
             [=, &gpu](bench::Variant& variant) {
                 return repeated(prepare(variant, p.left(gpu), p.right(gpu),
                                         p.result_of(variant, gpu, rounding)));
             })
        .group("library")
        .excerpt(excerpt);
}

/// `dense::gpu::gemm`, and the marked text of what it takes for large products.
template <class T>
void add_gemm(bench::Trial& trial, GpuProduct<T> const& p, cuda::Gpu& gpu, std::string const& name,
              std::string const& excerpt, Precision precision, double rounding)
{
    add_library(trial, p, gpu, name, excerpt, rounding,
                [=, &gpu](bench::Variant&, auto a, auto b, auto c) {
                    dense::gpu::GemmOptions options{.precision = precision};
                    auto const memory = std::make_shared<cuda::Buffer<std::byte>>(
                        dense::gpu::gemm_workspace_bytes<T>(a, b, c, options));
                    options.workspace = {memory->data(), memory->size()};
                    return [=, &gpu, kept = memory] {
                        dense::gpu::gemm<T>(a, b, c, gpu.stream(), options);
                    };
                });
}

/// A plan for this shape, whose kernels are timed apart from the rounds.
template <class T>
void add_plan(bench::Trial& trial, GpuProduct<T> const& p, cuda::Gpu& gpu, std::string const& name,
              Precision precision, double rounding)
{
    add_library(trial, p, gpu, name, "gemm_plan", rounding,
                [=, &gpu](bench::Variant& variant, auto a, auto b, auto c) {
                    auto const plan = std::make_shared<dense::gpu::GemmPlan<T> const>(
                        a, b, c, gpu.stream(), dense::gpu::GemmOptions{.precision = precision},
                        dense::gpu::GemmPlanOptions{.timed = !p.is_exact});
                    variant.note(plan->kernel());
                    return [=, &gpu] { (*plan)(a, b, c, gpu.stream()); };
                });
}

/// cuBLAS' own choice, and the best of eight that cuBLASLt offers.
template <class T>
void add_cublas(bench::Trial& trial, GpuProduct<T> const& p, cuda::Gpu& gpu,
                peers::CuBlas const& cublas, std::string const& suffix, Math math, double rounding)
{
    if (is_asked_for("cublas" + suffix)) {
        trial
            .add("cublas" + suffix,
                 [=, &gpu, &cublas](bench::Variant& variant) {
                     return repeated([=, &gpu, &cublas, a = p.left(gpu), b = p.right(gpu),
                                      c = p.result_of(variant, gpu, rounding)] {
                         cublas.gemm(a, b, c, math, gpu.stream());
                     });
                 })
            .group("peer")
            .excerpt("cublas");
    }
    if (is_asked_for("cublaslt" + suffix)) {
        trial
            .add("cublaslt" + suffix,
                 [=, &gpu, &cublas](bench::Variant& variant) {
                     peers::CuBlas::LtProduct<T> product{cublas, p.left(gpu), p.right(gpu),
                                                         p.result_of(variant, gpu, rounding), math};
                     if (!p.is_exact) {
                         product.tune(gpu.stream());
                         variant.note(product.choice());
                     }
                     return repeated([&gpu, product] { product(gpu.stream()); });
                 })
            .group("peer")
            .excerpt("cublaslt");
    }
}

/// What people call: `gemm` and the vendor's libraries, in every precision that there is for `T`.
template <class T>
void add_libraries(bench::Trial& trial, GpuProduct<T> const& p, cuda::Gpu& gpu,
                   peers::CuBlas const& cublas)
{
    constexpr bool is_float = std::is_same_v<T, float>;
    auto const* const large = is_half<T> ? "wgmma_tiles"
                              : is_float ? "shaped_tiles"
                                         : "tensor_fp64";
    add_gemm(trial, p, gpu, "gemm", large, Precision::fp32, 0);
    add_plan(trial, p, gpu, "gemm_plan", Precision::fp32, 0);
    if (is_float) {
        add_plan(trial, p, gpu, "gemm_plan_tf32", Precision::tf32, tf32_rounding);
        add_gemm(trial, p, gpu, "gemm_tf32", "wgmma_tf32", Precision::tf32, tf32_rounding);
        add_gemm(trial, p, gpu, "gemm_tf32x3", "wgmma_3xtf32", Precision::tf32x3,
                 three_tf32_rounding);
    }
    if (!cublas.missing.empty()) {
        trial.skip("cublas", cublas.missing).group("peer");
        return;
    }
    add_cublas(trial, p, gpu, cublas, "", Math::exact, 0);
    if (is_float) {
        add_cublas(trial, p, gpu, cublas, "_tf32", Math::tf32, tf32_rounding);
    }
}

/// cuBLAS by the clock that also counts gaps between launches, beside the graph's.
template <class T>
void add_cublas_by_events(bench::Trial& trial, GpuProduct<T> const& p, cuda::Gpu& gpu,
                          peers::CuBlas const& cublas)
{
    if (cublas.missing.empty() && is_asked_for("cublas_events")) {
        trial
            .add("cublas_events", repeated([=, &gpu, &cublas] {
                     cublas.gemm(p.left(gpu), p.right(gpu), p.product(gpu), Math::exact,
                                 gpu.stream());
                 }))
            .group("clock")
            .excerpt("cublas")
            .clock(gpu.clock(bench::Cache::cold));
    }
}

/// Everything that multiplies one shape.
template <class T>
void multiply(bench::Trial& trial, Shape shape, cuda::Gpu& gpu, peers::CuBlas const& cublas)
{
    GpuProduct<T> const p{trial, shape, gpu};
    add_steps(trial, p, gpu);
    add_libraries(trial, p, gpu, cublas);
    add_cublas_by_events(trial, p, gpu, cublas);
    trial.run();
}

/// The libraries alone.
template <class T>
void compare_libraries(bench::Trial& trial, Shape shape, cuda::Gpu& gpu,
                       peers::CuBlas const& cublas)
{
    GpuProduct<T> const p{trial, shape, gpu};
    add_libraries(trial, p, gpu, cublas);
    trial.run();
}

/// The article's kernel by more and more threads: one warp, a warp on each of 32 multiprocessors,
/// 32 times as many again, all that the device keeps at once, and one for each element.
void multiply_by_threads(bench::Trial& trial, cuda::Gpu& gpu)
{
    auto const side = trial.integer("side");
    GpuProduct<float> const p{trial, {side, side / 4, side}, gpu};
    trial.cache(bench::Cache::warm);
    for (auto const& [name, threads] : std::initializer_list<std::pair<std::string, std::int64_t>>{
             {"threads_32", 32},
             {"threads_1024", 1024},
             {"threads_32768", 32768},
             {"threads_resident", cuda::resident_threads()},
             {"thread_each", side * side}}) {
        if (!is_asked_for(name)) {
            continue;
        }
        trial
            .add(name, repeated([=, &gpu, threads = threads] {
                     dense::gpu::multiply_by_threads(p.left(gpu), p.right(gpu), p.product(gpu),
                                                     threads, gpu.stream());
                 }))
            .group("threads")
            .excerpt("by_threads");
    }
    trial.run();
}

bench::AxisValues sides()
{
    bench::AxisValues values;
    values.tiny = {std::int64_t{256}};
    values.quick = values.full = {std::int64_t{1024}};
    values.require = require_size;
    return values;
}

/// Powers of two, with all steps; and two sizes one below, where rows begin anywhere.
bench::AxisValues square_sizes()
{
    bench::AxisValues values;
    values.tiny = {std::int64_t{64}, std::int64_t{97}};
    for (std::int64_t size = 64; size <= 8192; size *= 2) {
        values.quick.emplace_back(size);
    }
    values.quick.insert(values.quick.end(), {std::int64_t{4095}, std::int64_t{8191}});
    values.full = values.quick;
    values.require = require_size;
    return values;
}

/// cuBLAS, loaded when a trial first asks for it: not before the device is needed.
peers::CuBlas const& cublas()
{
    static peers::CuBlas const library;
    return library;
}

} // namespace

} // namespace gemm

void cuda::add_studies(bench::Experiment& experiment, Gpu& gpu)
{
    experiment.ceiling(gpu, ceilings::device_read)
        .ceiling(gpu, ceilings::device_fma<float>)
        .ceiling(gpu, ceilings::device_fma<double>);
    auto& article = experiment.study("article").on(gpu).axis("shape", gemm::article_shapes);
    article.types<float, double>([&]<class T>(bench::Trial& trial) {
        experiment.library("cublas", gemm::cublas().version);
        gemm::multiply<T>(trial, gemm::parse_shape(trial.text("shape")), gpu, gemm::cublas());
    });
    experiment.study("threads")
        .on(gpu)
        .axis("side", gemm::sides())
        .untyped([&](bench::Trial& trial) { gemm::multiply_by_threads(trial, gpu); });
    auto& squares = experiment.study("squares").on(gpu).axis("size", gemm::square_sizes());
    squares.types<bench::bf16, float, double>([&]<class T>(bench::Trial& trial) {
        experiment.library("cublas", gemm::cublas().version);
        auto const n = trial.integer("size");
        bool const has_steps = n % 2 == 0 || n < 1024;
        (has_steps ? gemm::multiply<T> : gemm::compare_libraries<T>)(trial, {n, n, n}, gpu,
                                                                     gemm::cublas());
    });
    for (bool const multiples : {true, false}) {
        auto& shapes = experiment.study(multiples ? "shapes_multiples" : "shapes_others").on(gpu);
        shapes.axis("shape", [multiples] { return gemm::drawn_shapes(multiples); });
        shapes.types<bench::bf16, float, double>([&]<class T>(bench::Trial& trial) {
            experiment.library("cublas", gemm::cublas().version);
            gemm::compare_libraries<T>(trial, gemm::parse_shape(trial.text("shape")), gpu,
                                       gemm::cublas());
        });
    }
}
