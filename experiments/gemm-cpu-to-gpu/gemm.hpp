#pragma once

#include "bench/experiment.hpp"
#include "cuda/gpu.hpp"
#include "dense/gemm.hpp"
#include "dense/gemm_steps.hpp"
#include "peers/mkl_gemm.hpp"
#include "peers/openblas.hpp"

#include <algorithm>
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
    std::string drawn_from = "84a0f1c9233d17fb"; ///< hash of the commit that is measured
};
Options& options();

/// Adds `--wA --hA --wB --hB --iter --algo --device --drawn-from`.
void add_options(bench::Experiment& experiment);

/// A product of `a` (m x k) and `b` (k x n).
struct Shape
{
    std::int64_t m;
    std::int64_t k;
    std::int64_t n;
};

/// From `256x1024x128`: m, k, n. Throws std::invalid_argument with what is wrong, also if this
/// machine's memory does not hold it.
Shape parse_shape(std::string const& text);

/// Throws std::invalid_argument unless a square matrix may be so large.
void require_size(bench::Parameter const& size);

/// The shape of the options, or the article's two.
bench::AxisValues article_shapes();

/// 24 shapes that nobody chose, drawn from the first 16 digits of a hash: half have sizes of any
/// magnitude from `largest` / 64 to `largest`, half one or two below that. All sizes are multiples
/// of 8, or whatever was drawn. Throws std::invalid_argument for what is no hash.
std::vector<Shape> draw_shapes(std::string const& hash, bool multiples, std::int64_t largest);

/// Those drawn from `--drawn-from`, up to 8192.
bench::AxisValues drawn_shapes(bool multiples);

/// Whether `--algo` leaves a variant in: it is `0`, `all`, the variant's name, or its number in the
/// article.
bool is_asked_for(std::string const& variant);

inline bench::AxisValues sizes_on_host()
{
    bench::AxisValues values;
    values.tiny = {std::int64_t{48}};
    values.quick = {std::int64_t{256}, std::int64_t{512}, std::int64_t{1024}, std::int64_t{2048}};
    values.book = values.quick;
    values.book.emplace_back(std::int64_t{4096});
    values.full = values.book;
    values.require = require_size;
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

    /// The product in double precision, and what a sum of n products in `T` may be off by: by
    /// Cauchy and Schwarz, the sum of their magnitudes is at most the product of two norms.
    static bench::Expected expected(std::span<T const> a, std::span<T const> b, std::int64_t n)
    {
        auto const width = static_cast<std::size_t>(n);
        double const unit = std::numeric_limits<T>::epsilon() * static_cast<double>(n + 2);
        std::vector<double> of_rows(width), of_columns(width); // norms, squared
        for (std::size_t e = 0; e < width * width; ++e) {
            of_rows[e / width] += static_cast<double>(a[e]) * static_cast<double>(a[e]);
            of_columns[e % width] += static_cast<double>(b[e]) * static_cast<double>(b[e]);
        }
        bench::Expected made{std::vector<double>(width * width),
                             std::vector<double>(width * width)};
        constexpr std::size_t block = 32; // rows of b that stay in the cache
        for (std::size_t first = 0; first < width; first += block) {
#pragma omp parallel for
            for (std::size_t i = 0; i < width; ++i) {
                double* const value = made.value.data() + i * width;
                for (std::size_t k = first; k < std::min(first + block, width); ++k) {
                    auto const of_a = static_cast<double>(a[i * width + k]);
                    T const* const of_b = b.data() + k * width;
#pragma omp simd
                    for (std::size_t j = 0; j < width; ++j) {
                        value[j] += of_a * static_cast<double>(of_b[j]);
                    }
                }
            }
        }
        for (std::size_t e = 0; e < width * width; ++e) {
            made.bound[e] = unit * std::sqrt(of_rows[e / width] * of_columns[e % width]);
        }
        return made;
    }
};

/// OpenBLAS, loaded once.
inline peers::OpenBlas const& openblas()
{
    static peers::OpenBlas const library;
    return library;
}

/// Adds a library's product, or the reason why there is none. `apart` is why it is not for several
/// threads where those are not OpenMP's.
template <class T, class Library>
void by_library(bench::Trial& trial, HostProblem<T> const& p, std::string const& name,
                Library const& library, std::string const& apart)
{
    if (!library.missing.empty()) {
        trial.skip(name, library.missing).group("peer");
    } else if (trial.threads() > 1 && !library.shares_threads) {
        trial.skip(name, apart).group("peer");
    } else if (is_asked_for(name)) {
        trial
            .add(name,
                 [&trial, &p, library] {
                     library.gemm(p.left(), p.right(), p.product(), trial.threads());
                 })
            .group("peer");
    }
}

/// The steps on the host: loops on one thread, packed blocks with every kernel of this processor
/// and all threads, and the libraries.
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
    if (trial.threads() == 1 && p.size > 1024) {
        trial.skip("packed", "one thread measures sizes up to 1024, all threads the larger ones");
        return;
    }
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
    by_library(trial, p, "openblas", openblas(),
               "it has threads of its own; install libopenblas0-openmp");
    by_library(trial, p, "mkl", peers::MklGemm{trial.threads()}, "");
    trial.run();
}

} // namespace gemm
