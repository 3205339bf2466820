#include "dense/gpu/gemm_plan.hpp"

#include "base/ceil_div.hpp"
#include "base/duel.hpp"
#include "cuda/error.hpp"
#include "cuda/timed_graph.hpp"
#include "dense/gpu/elementwise.hpp"
#include "dense/gpu/gemm_choice.hpp"
#include "dense/gpu/gemm_fp64.hpp"
#include "dense/gpu/gemm_half.hpp"
#include "dense/gpu/gemm_shallow.hpp"
#include "dense/gpu/gemm_shaped.hpp"
#include "dense/gpu/gemm_tf32.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <ranges>
#include <span>
#include <stdexcept>

namespace dense::gpu {

namespace {

constexpr char const* who = "dense::gpu::GemmPlan";

/// Seconds that products should take which a clock times as one.
constexpr double round_s = 30e-6;

/// Kernels that are timed.
constexpr std::size_t most = 8;

/// Depth up to which a thread is asked to make whole sums of floats or doubles.
constexpr std::int64_t shallow = 64;

double now()
{
    return std::chrono::duration<double>{std::chrono::steady_clock::now().time_since_epoch()}
        .count();
}

/// The largest power of two, up to `most_bytes`, at multiples of which all rows begin.
template <class T>
std::size_t alignment_of(Matrix<T> const& m, std::uintptr_t most_bytes)
{
    auto const row = static_cast<std::uintptr_t>(m.stride) * sizeof(T);
    auto const bits = reinterpret_cast<std::uintptr_t>(m.data) | row | most_bytes;
    return bits & (~bits + 1);
}

/// Seconds that may be spent on other kernels where the first takes `once`.
double allowed(double multiplies, double once)
{
    constexpr double least = 20e-3; // what allocations and first launches take
    return std::min(multiplies / 4 * once, std::max(400 * once, least));
}

/// Whether a quarter of the products pays for a duel, of five rounds of both.
bool pays(double multiplies)
{
    return multiplies / 4 >= 10;
}

} // namespace

/// A kernel, its type forgotten, and what is to be done with operands before it.
template <class T>
struct GemmPlan<T>::Way
{
    using Multiply =
        std::function<void(double alpha, Matrix<T const> const& a, Matrix<T const> const& b,
                           double beta, Matrix<T> const& c, cuda::Stream const& stream)>;

    std::string kernel = {};
    double microseconds = 0;
    Multiply multiply = {};
    bool scales = true; ///< by alpha and beta; else `c = a b`
    bool repeats = true;
    Matrix<T> a = {}; ///< where `a` is copied to, without memory; no rows where it is not
    Matrix<T> b = {};

    std::size_t bytes() const { return bytes_of(a) + bytes_of(b); }

    static std::size_t bytes_of(Matrix<T> const& m)
    {
        return (static_cast<std::size_t>(m.rows * m.stride) * sizeof(T) + 255) / 256 * 256;
    }
};

namespace {

/// Of a step, which makes `c = a b`.
template <class T>
auto by_step(Step<T> const& step)
{
    return
        [step](double, Matrix<T const> const& a, Matrix<T const> const& b, double,
               Matrix<T> const& c, cuda::Stream const& stream) { step.multiply(a, b, c, stream); };
}

void by_shaped_plan(ShapedPlan const& plan, Matrix<float const> a, Matrix<float const> b,
                    Matrix<float> c, cuda::Stream const& stream)
{
    multiply_by_shaped_tiles(plan, a, b, c, stream);
}

/// Of a function that makes `c = a b` by a plan of its own.
template <class T, class Plan>
auto by_plan(Plan const& plan, void (*multiply)(Plan const&, Matrix<T const>, Matrix<T const>,
                                                Matrix<T>, cuda::Stream const&))
{
    return [plan, multiply](double, Matrix<T const> const& a, Matrix<T const> const& b, double,
                            Matrix<T> const& c,
                            cuda::Stream const& stream) { multiply(plan, a, b, c, stream); };
}

} // namespace

template <class T>
auto GemmPlan<T>::place_of(Matrix<T const> const& m) -> Place
{
    return {m.rows, m.columns, m.stride, alignment_of(m, 16)};
}

template <class T>
void GemmPlan<T>::require_place(char const* name, Matrix<T const> const& m, Place const& place)
{
    auto const found = place_of(m);
    if (found.rows != place.rows || found.columns != place.columns ||
        found.stride != place.stride || found.alignment < place.alignment) {
        auto const text = [](Place const& of) {
            return fmt::format("{} x {} with {} from row to row at multiples of {} bytes", of.rows,
                               of.columns, of.stride, of.alignment);
        };
        throw std::invalid_argument{
            fmt::format("{}: found {} of {}, expected {}", who, name, text(found), text(place))};
    }
}

/// All that can make the product, what `gemm` would take first.
template <class T>
auto GemmPlan<T>::ways(Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c) const
    -> std::vector<Way>
{
    std::vector<Way> found;
    if (one_vector<T>(a, b, c, product_)) {
        auto const by_gemv = [product = product_](double alpha, Matrix<T const> const& left,
                                                  Matrix<T const> const& right, double beta,
                                                  Matrix<T> const& to, cuda::Stream const& stream) {
            auto options = product;
            options.alpha = alpha;
            options.beta = beta;
            gemm<T>(left, right, to, stream, options);
        };
        found.push_back({.kernel = "gemv", .multiply = by_gemv});
        return found;
    }
    auto const transposed = [](Matrix<T const> const& m, bool is) {
        return is ? aligned_matrix<T>(m.columns, m.rows) : Matrix<T>{};
    };
    Way plain{.a = transposed(a, product_.transposes.a), .b = transposed(b, product_.transposes.b)};
    auto const of_a = product_.transposes.a ? Matrix<T const>{plain.a} : a;
    auto const of_b = product_.transposes.b ? Matrix<T const>{plain.b} : b;
    auto const add = [&](std::string const& kernel, double microseconds, auto multiply,
                         bool repeats = true) -> Way& {
        auto way = plain;
        way.kernel = kernel;
        way.microseconds = microseconds;
        way.multiply = multiply;
        way.scales = is_half<T>;
        way.repeats = repeats;
        return found.emplace_back(way);
    };
    if constexpr (is_half<T>) {
        if (auto const refusal = refuses_mma(of_a, of_b, c); !refusal.empty()) {
            throw std::invalid_argument{fmt::format("{}: {}", who, refusal)};
        }
        for (auto const& plan : half_plans(of_a, of_b, c) | std::views::take(most)) {
            auto& way =
                add(plan.text(), plan.microseconds,
                    [plan](double alpha, Matrix<T const> const& left, Matrix<T const> const& right,
                           double beta, Matrix<T> const& to, cuda::Stream const& stream) {
                        multiply_half<T>(plan, alpha, left, right, beta, to, stream);
                    });
            if (plan.copies_a) {
                way.a = aligned_matrix<T>(of_a.rows, of_a.columns);
            }
            if (plan.copies_b) {
                way.b = aligned_matrix<T>(of_b.rows, of_b.columns);
            }
        }
    } else {
        auto const add_plans = [&](std::string_view step, auto const& plans, auto multiply) {
            constexpr int best = 4; // of a step, so that others are timed, too
            for (auto const& plan : plans | std::views::take(best)) {
                add(fmt::format("{}, {}", step, plan.text()), plan.microseconds,
                    by_plan<T>(plan, multiply));
            }
        };
        auto const add_step = [&](Step<T> const& step) {
            if constexpr (std::is_same_v<T, float>) {
                if (step.name == "shaped_tiles") {
                    return add_plans(step.name, shaped_plans(shaped_problem(of_a, of_b)),
                                     by_shaped_plan);
                }
                if (step.name == "wgmma_tf32") {
                    return add_plans(step.name, tf32_plans(of_a, of_b), multiply_by_tf32);
                }
            } else if (step.name == "tensor_fp64") {
                return add_plans(step.name, fp64_plans(of_a, of_b), multiply_by_tensor_fp64);
            }
            add(std::string{step.name}, 0, by_step(step), step.name != "split_k");
        };
        auto const add_shallow = [&] { add("whole sums", 0, multiply_shallow<T>).scales = true; };
        auto const depth = of_a.columns;
        if (depth <= very_shallow<T>) {
            add_shallow();
        }
        for (auto const& step : possible_steps(product_.precision, of_a, of_b, c)) {
            add_step(step);
        }
        if (depth > very_shallow<T> && depth <= shallow) {
            add_shallow();
        }
    }
    return found;
}

template <class T>
GemmPlan<T>::GemmPlan(Operand<T> a, Operand<T> b, Matrix<T> c, cuda::Stream const& stream,
                      GemmOptions const& product, GemmPlanOptions const& options)
    : product_{product}, a_{place_of(a)}, b_{place_of(b)}, c_{place_of(c)}
{
    double const begin = now();
    require_gemm<T>(who, a, b, c, product.transposes);
    if (!(options.multiplies >= 0)) {
        throw std::invalid_argument{
            fmt::format("{}: found {} multiplies, expected 0 or more", who, options.multiplies)};
    }
    if (!product.workspace.empty()) {
        throw std::invalid_argument{
            fmt::format("{}: found a workspace, expected none: a plan has its own", who)};
    }
    if (c.rows == 0 || c.columns == 0 || depth() == 0) {
        return;
    }
    auto all = ways(a, b, c);
    if (options.repeats) {
        std::erase_if(all, [&](Way const& way) { return !way.repeats && &way != &all.front(); });
    }
    for (auto const& way : all) {
        candidates_.push_back({way.kernel, way.microseconds, 0});
    }
    if (!options.kernel.empty()) {
        auto const found = std::ranges::find(all, options.kernel, &Way::kernel);
        if (found == all.end()) {
            auto const names = all | std::views::transform(&Way::kernel);
            throw std::invalid_argument{fmt::format("{}: found kernel '{}', expected one of: {}",
                                                    who, options.kernel, fmt::join(names, "; "))};
        }
        keep(*found);
    } else if (options.timed && all.size() > 1 && pays(options.multiplies)) {
        keep_fastest(all, a, b, c, stream, options.multiplies);
    } else {
        keep(all.front());
    }
    seconds_ = now() - begin;
}

template <class T>
void GemmPlan<T>::keep(Way const& way)
{
    memory_.reset();
    if (way.bytes() > 0) {
        memory_.emplace(way.bytes());
    }
    before_beta_.reset();
    if (product_.beta != 0 && !way.scales) {
        reserve_product();
    }
    way_ = std::make_shared<Way const>(way);
    kernel_ = way.kernel;
    repeats_ = way.repeats;
}

template <class T>
void GemmPlan<T>::reserve_product() const
{
    auto const place = aligned_matrix<T>(c_.rows, c_.columns);
    if (!before_beta_) {
        before_beta_.emplace(static_cast<std::size_t>(place.rows * place.stride));
    }
}

//! [gemm_plan]
/// Times one after the other, what `gemm` would take first, and keeps the fastest: as many as the
/// products pay for.
template <class T>
void GemmPlan<T>::keep_fastest(std::vector<Way> const& all, Matrix<T const> const& a,
                               Matrix<T const> const& b, Matrix<T> const& c,
                               cuda::Stream const& stream, double multiplies)
{
    stream.synchronize(); // operands stand
    cuda::Stream const own;
    // A result that is aligned as c is, with rows as far apart but for whole lines.
    constexpr std::int64_t line = 128 / sizeof(T);
    auto const stride = base::ceil_div(c.columns, line) * line + c.stride % line;
    auto const skipped = static_cast<std::int64_t>(alignment_of(c, 128) / sizeof(T)) % line;
    cuda::Buffer<T> result{static_cast<std::size_t>(c.rows * stride + skipped)};
    Matrix<T> const to{result.data() + skipped, c.rows, c.columns, stride};
    set_zero(to, own);
    auto const some = std::span{all}.first(std::min(all.size(), most));
    auto const sizes = some | std::views::transform(&Way::bytes);
    memory_.emplace(std::ranges::max(sizes));
    if (product_.beta != 0) {
        reserve_product();
    }
    auto const timed = [&](Way const& way, int calls) {
        auto const issue = [&] { multiply(way, product_.alpha, a, b, product_.beta, to, own); };
        return cuda::TimedGraph{own, issue, calls};
    };
    auto const* fastest = &some.front();
    std::optional<cuda::TimedGraph> holder{timed(*fastest, 1)};
    // As many calls of each, so that what stands between the marks weighs as much.
    int const calls = base::calls_of((*holder)(), round_s);
    holder.emplace(timed(*fastest, calls));
    double least = std::min((*holder)(), (*holder)());
    candidates_.front().seconds = least;
    double const until = now() + allowed(multiplies, least);
    for (std::size_t k = 1; k < some.size() && now() < until; ++k) {
        try {
            auto challenger = timed(some[k], calls);
            auto const found = base::duel(challenger, *holder);
            candidates_[k].seconds = found.challenger;
            least = std::min(least, found.holder);
            if (found.challenger < base::by_chance * least) {
                least = found.challenger;
                fastest = &some[k];
                holder.emplace(std::move(challenger));
            }
        } catch (cuda::Error const&) {           // more blocks than a grid has, for instance
        } catch (std::invalid_argument const&) { // more elements than it counts
        }
    }
    holder.reset(); // works in what is given back
    keep(*fastest);
}
//! [gemm_plan]

template <class T>
std::int64_t GemmPlan<T>::depth() const
{
    return product_.transposes.a ? a_.rows : a_.columns;
}

template <class T>
void GemmPlan<T>::multiply(Way const& way, double alpha, Matrix<T const> const& a,
                           Matrix<T const> const& b, double beta, Matrix<T> const& c,
                           cuda::Stream const& stream) const
{
    auto to_a = way.a;
    auto to_b = way.b;
    if (memory_) {
        to_a.data = reinterpret_cast<T*>(memory_->data());
        to_b.data = reinterpret_cast<T*>(memory_->data() + way.bytes_of(way.a));
    }
    auto const of_a = copied(a, product_.transposes.a, to_a, stream);
    auto const of_b = copied(b, product_.transposes.b, to_b, stream);
    if (way.scales) {
        way.multiply(alpha, of_a, of_b, beta, c, stream);
        return;
    }
    auto product = c;
    if (beta != 0) {
        reserve_product();
        product = aligned_matrix<T>(c.rows, c.columns);
        product.data = before_beta_->data();
    }
    way.multiply(1, of_a, of_b, 0, product, stream);
    if (alpha != 1 || beta != 0) {
        add_scaled<T>(alpha, product, beta, c, stream);
    }
}

template <class T>
void GemmPlan<T>::operator()(double alpha, Operand<T> a, Operand<T> b, double beta, Matrix<T> c,
                             cuda::Stream const& stream) const
{
    require_gemm<T>(who, a, b, c, product_.transposes);
    require_place("a", a, a_);
    require_place("b", b, b_);
    require_place("c", Matrix<T const>{c}, c_);
    if (c.rows == 0 || c.columns == 0) {
        return;
    }
    if (depth() == 0 || alpha == 0) {
        scale(beta, c, stream);
        return;
    }
    multiply(*way_, alpha, a, b, beta, c, stream);
}

template <class T>
void GemmPlan<T>::operator()(Operand<T> a, Operand<T> b, Matrix<T> c,
                             cuda::Stream const& stream) const
{
    (*this)(product_.alpha, a, b, product_.beta, c, stream);
}

template <class T>
std::string GemmPlan<T>::explain() const
{
    if (!way_) {
        return "nothing to multiply";
    }
    auto line = fmt::format("{}; {:.2g} MB beside the operands, ready after {:.2g} ms; results {}; "
                            "expected or timed, in us:",
                            kernel_, 1e-6 * static_cast<double>(bytes()), 1000 * seconds_,
                            repeats_ ? "repeat bit for bit" : "may differ in their last bits");
    for (auto const& candidate : candidates_) {
        line += &candidate == &candidates_.front() ? " " : "; ";
        line += candidate.kernel;
        line += candidate.microseconds > 0 ? fmt::format(" {:.3g}", candidate.microseconds) : "";
        line += candidate.seconds > 0 ? fmt::format(" timed {:.3g}", 1e6 * candidate.seconds) : "";
    }
    return line;
}

template class GemmPlan<float>;
template class GemmPlan<double>;
template class GemmPlan<base::fp16>;
template class GemmPlan<base::bf16>;

} // namespace dense::gpu
