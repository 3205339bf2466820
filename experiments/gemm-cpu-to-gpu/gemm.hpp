#pragma once

#include "bench/experiment.hpp"
#include "cuda/gpu.hpp"
#include "dense/gemm.hpp"
#include "dense/gemm_steps.hpp"
#include "peers/openblas.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

/// Shapes, operands, and who multiplies on the host.
namespace gemm {

/// The article's options; what is 0 or empty was not given.
struct Options
{
    std::int64_t a_columns = 0;
    std::int64_t a_rows = 0;
    std::int64_t b_columns = 0;
    std::int64_t b_rows = 0;
    std::int64_t products = 1;
    std::int64_t device = 0;
    std::string algorithm = "all";
};
Options& options();

/// Adds `--wA --hA --wB --hB --iter --algo --device`.
void add_options(bench::Experiment& experiment);

/// A product of `a` (m x k) and `b` (k x n).
struct Shape
{
    std::int64_t m;
    std::int64_t k;
    std::int64_t n;
};

/// From `256x1024x128`: m, k, n. Throws std::invalid_argument with what is wrong.
Shape parse_shape(std::string const& text);

/// The shape of the options, or the article's two.
bench::AxisValues article_shapes();

/// Whether `--algo` leaves a variant in: it is `0`, `all`, the variant's name, or its number in the
/// article.
bool is_asked_for(std::string const& variant);

inline bench::AxisValues sizes_on_host()
{
    bench::AxisValues values;
    values.tiny = {std::int64_t{48}};
    values.quick = {std::int64_t{256}, std::int64_t{512}, std::int64_t{1024}};
    values.full = {std::int64_t{256}, std::int64_t{512}, std::int64_t{1024}, std::int64_t{2048}};
    return values;
}

/// Operands of a product that the host computes.
template <class T>
struct HostProblem
{
    std::int64_t size;
    bench::Input<T> a;
    bench::Input<T> b;
    bench::Output<T> c;

    explicit HostProblem(bench::Trial& trial)
        : size{trial.integer("size")}, a{trial.input<T>(count())}, b{trial.input<T>(count())},
          c{trial.output<T>(count())}
    {
        trial.work({.flops = dense::product_flops(size, size, size),
                    .bytes = 3.0 * static_cast<double>(count()) * sizeof(T)});
        c.expect([a = a, b = b, n = size] { return expected(a.on(), b.on(), n); });
    }

    dense::Matrix<T const> left() const { return {a.on().data(), size, size}; }
    dense::Matrix<T const> right() const { return {b.on().data(), size, size}; }
    dense::Matrix<T> product() const { return {c.on().data(), size, size}; }

private:
    std::size_t count() const { return static_cast<std::size_t>(size * size); }

    /// The product in double precision, and what a sum of n products in `T` may be off by.
    static bench::Expected expected(std::span<T const> a, std::span<T const> b, std::int64_t n)
    {
        auto const width = static_cast<std::size_t>(n);
        double const unit = std::numeric_limits<T>::epsilon() * static_cast<double>(n + 2);
        bench::Expected made{std::vector<double>(width * width),
                             std::vector<double>(width * width)};
#pragma omp parallel for
        for (std::size_t i = 0; i < width; ++i) {
            for (std::size_t k = 0; k < width; ++k) {
                auto const of_a = static_cast<double>(a[i * width + k]);
                for (std::size_t j = 0; j < width; ++j) {
                    double const each = of_a * static_cast<double>(b[k * width + j]);
                    made.value[i * width + j] += each;
                    made.bound[i * width + j] += std::abs(each) * unit;
                }
            }
        }
        return made;
    }
};

/// The steps on the host: loops on one thread, packed blocks with every kernel of this processor
/// and all threads, and OpenBLAS.
template <class T>
void on_host(bench::Trial& trial)
{
    HostProblem<T> const p{trial};
    auto const loops = [&](std::string const& name, auto step, std::int64_t largest) {
        if (!is_asked_for(name)) {
            return;
        }
        trial.add(name, [&, step, largest](bench::Variant& variant) {
            if (p.size > largest) {
                variant.not_applicable("it would take minutes beyond " + std::to_string(largest));
            }
            return [&, step] { step(p.left(), p.right(), p.product()); };
        });
    };
    if (trial.threads() == 1) {
        loops("triple_loop", dense::triple_loop<T>, 512);
        loops("loop_order", dense::loop_order<T>, 1024);
        loops("tiles", dense::tiles<T>, 1024);
    }
    for (auto const& kernel : dense::micro_kernels<T>()) {
        auto const name = "packed_" + std::string{kernel.name};
        if (is_asked_for(name)) {
            trial
                .add(name,
                     [&, kernel] {
                         dense::packed_gemm(p.left(), p.right(), p.product(), kernel,
                                            trial.threads());
                     })
                .excerpt("micro_kernel");
        }
    }
    static peers::OpenBlas const openblas;
    if (!openblas.missing.empty()) {
        trial.skip("openblas", openblas.missing).group("peer");
    } else if (trial.threads() > 1 && !openblas.shares_threads) {
        trial.skip("openblas", "it has threads of its own; install libopenblas0-openmp")
            .group("peer");
    } else if (is_asked_for("openblas")) {
        trial
            .add("openblas",
                 [&] { openblas.gemm(p.left(), p.right(), p.product(), trial.threads()); })
            .group("peer");
    }
    trial.run();
}

} // namespace gemm
