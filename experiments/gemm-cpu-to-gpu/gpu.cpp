#include "gemm.hpp"

#include "ceilings/device_probes.hpp"
#include "cuda/buffer.hpp"
#include "cuda/device.hpp"
#include "dense/gpu/gemm.hpp"
#include "dense/gpu/gemm_steps.hpp"
#include "dense/gpu/reference.hpp"
#include "peers/cublas.hpp"

#include <cuda_runtime_api.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

/// The studies that need CUDA.
namespace gemm {

namespace {

/// A product on the GPU: its operands and what it must give. The reference is computed there too,
/// in double precision, by a kernel that does nothing but that.
template <class T>
struct GpuProduct
{
    Shape shape;
    bench::Input<T> a;
    bench::Input<T> b;
    bench::Output<T> c;

    GpuProduct(bench::Trial& trial, Shape of, cuda::Gpu& gpu)
        : shape{of}, a{trial.input<T>(count(of.m, of.k))}, b{trial.input<T>(count(of.k, of.n))},
          c{trial.output<T>(count(of.m, of.n))}
    {
        auto const products = static_cast<double>(options().products);
        auto const elements = static_cast<double>(a.size() + b.size() + c.size());
        trial.work({.flops = products * dense::product_flops(of.m, of.n, of.k),
                    .bytes = products * elements * sizeof(T),
                    .operations = products});
        expect(c, gpu, 0);
    }

    /// What a result must be whose operands were rounded to so small a part of themselves.
    void expect(bench::Output<T> const& of, cuda::Gpu& gpu, double rounding) const
    {
        double const unit =
            std::numeric_limits<T>::epsilon() * static_cast<double>(shape.k + 2) + 2 * rounding;
        of.expect(1, [p = *this, &gpu, unit](std::size_t first, std::span<double> value,
                                             std::span<double> bound) {
            dense::gpu::reference_product(p.left(gpu), p.right(gpu), first, value, bound,
                                          gpu.stream());
            for (double& each : bound) {
                each *= unit;
            }
        });
    }

    dense::Matrix<T const> left(cuda::Gpu& gpu) const
    {
        return {a.on(gpu).data(), shape.m, shape.k};
    }
    dense::Matrix<T const> right(cuda::Gpu& gpu) const
    {
        return {b.on(gpu).data(), shape.k, shape.n};
    }
    dense::Matrix<T> product(cuda::Gpu& gpu) const { return {c.on(gpu).data(), shape.m, shape.n}; }

private:
    static std::size_t count(std::int64_t rows, std::int64_t columns)
    {
        return static_cast<std::size_t>(rows * columns);
    }
};

/// Adds what puts one product into the stream, as many times as `--iter` says.
template <class Multiply>
bench::Variant& add(bench::Trial& trial, std::string const& name, Multiply multiply)
{
    return trial.add(name, [multiply, products = options().products] {
        for (std::int64_t i = 0; i < products; ++i) {
            multiply();
        }
    });
}

/// The marked text of a step.
std::string excerpt_of(std::string const& step)
{
    return step == "split_k"                ? "async_copies"
           : step.starts_with("fragments_") ? "fragments"
           : step.starts_with("tensor_")    ? "tensor_tiles"
                                            : step;
}

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
                 auto c = p.product(gpu);
                 if (rounding > 0) { // an output of its own, as its bound is another
                     auto const own = variant.output<T>(p.c.size());
                     p.expect(own, gpu, rounding);
                     c.data = own.on(gpu).data();
                 }
                 return
                     [=, &gpu, a = p.left(gpu), b = p.right(gpu), products = options().products] {
                         for (std::int64_t i = 0; i < products; ++i) {
                             step.multiply(a, b, c, gpu.stream());
                         }
                     };
             })
        .group(group)
        .excerpt(excerpt_of(name));
}

constexpr double tf32_rounding = 0x1p-11;
constexpr double three_tf32_rounding = 0x1p-21;
constexpr double bf16_rounding = 0x1p-8;

/// Everything that multiplies one shape.
template <class T>
void multiply(bench::Trial& trial, Shape shape, cuda::Gpu& gpu, peers::CuBlas const& cublas)
{
    GpuProduct<T> const p{trial, shape, gpu};
    for (auto const& step : dense::gpu::gemm_steps<T>()) {
        bool const is_article = step.name == "one_thread_1d" || step.name == "shared_row_1d" ||
                                step.name.starts_with("tile_2d");
        if (!is_article || shape.m * shape.n * shape.k <= (std::int64_t{1} << 36)) {
            add_step(trial, p, step, gpu, is_article ? "article" : "step", 0);
        }
    }
    if (is_asked_for("triple_loop") && shape.m * shape.n * shape.k <= (std::int64_t{1} << 26)) {
        trial
            .add("triple_loop",
                 [p, shape] {
                     dense::triple_loop<T>({p.a.on().data(), shape.m, shape.k},
                                           {p.b.on().data(), shape.k, shape.n},
                                           {p.c.on().data(), shape.m, shape.n});
                 })
            .on(bench::host())
            .group("host");
    }
    if constexpr (std::is_same_v<T, float>) {
        for (auto const& step : dense::gpu::tensor_gemm_steps()) {
            double const rounding = step.name.ends_with("_bf16")     ? bf16_rounding
                                    : step.name.ends_with("_3xtf32") ? three_tf32_rounding
                                                                     : tf32_rounding;
            add_step(trial, p, step, gpu, "tensor", rounding);
        }
    }
    if (is_asked_for("gemm")) {
        add(trial, "gemm",
            [=, &gpu] {
                dense::gpu::gemm(p.left(gpu), p.right(gpu), p.product(gpu), gpu.stream());
            })
            .group("library")
            .excerpt("warp_tiles");
    }
    if (!cublas.missing.empty()) {
        trial.skip("cublas", cublas.missing).group("peer");
    } else {
        if (is_asked_for("cublas")) {
            add(trial, "cublas", [=, &gpu, &cublas] {
                cublas.gemm(p.left(gpu), p.right(gpu), p.product(gpu), peers::CuBlas::Math::exact,
                            gpu.stream());
            }).group("peer");
        }
        // The same by the clock that also counts gaps between launches, beside the graph's.
        if (is_asked_for("cublas_events")) {
            add(trial, "cublas_events",
                [=, &gpu, &cublas] {
                    cublas.gemm(p.left(gpu), p.right(gpu), p.product(gpu),
                                peers::CuBlas::Math::exact, gpu.stream());
                })
                .group("clock")
                .excerpt("cublas")
                .clock(gpu.clock(bench::Cache::cold));
        }
        if (is_asked_for("cublaslt")) {
            trial
                .add("cublaslt",
                     [=, &gpu, &cublas](bench::Variant&) {
                         return
                             [=, &gpu,
                              product = peers::CuBlas::LtProduct<T>{cublas, p.left(gpu),
                                                                    p.right(gpu), p.product(gpu)},
                              products = options().products] {
                                 for (std::int64_t i = 0; i < products; ++i) {
                                     product(gpu.stream());
                                 }
                             };
                     })
                .group("peer");
        }
    }
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
        add(trial, name,
            [=, &gpu, threads = threads] {
                dense::gpu::multiply_by_threads(p.left(gpu), p.right(gpu), p.product(gpu), threads,
                                                gpu.stream());
            })
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

bench::AxisValues square_sizes()
{
    bench::AxisValues values;
    values.tiny = {std::int64_t{64}, std::int64_t{97}};
    for (std::int64_t size = 64; size <= 8192; size *= 2) {
        values.quick.emplace_back(size);
    }
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
    squares.types<float, double>([&]<class T>(bench::Trial& trial) {
        experiment.library("cublas", gemm::cublas().version);
        auto const n = trial.integer("size");
        gemm::multiply<T>(trial, {n, n, n}, gpu, gemm::cublas());
    });
}
