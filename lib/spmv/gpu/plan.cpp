#include "spmv/gpu/plan.hpp"

#include "base/bytes.hpp"
#include "base/duel.hpp"
#include "spmv/device/check.hpp"
#include "spmv/formats/costs.hpp"
#include "spmv/formats/gpu_list.hpp"
#include "spmv/gpu/scale.hpp"

#include "cuda/error.hpp"
#include "cuda/stream.hpp"
#include "cuda/timed_graph.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <utility>

namespace spmv::gpu {

using base::allowed_seconds;
using base::by_chance;
using base::calls_of;
using base::duel;

namespace {

auto const costs = gpu_costs();

/// Seconds that multiplies should take which a clock times as one.
constexpr double round_s = 30e-6;

/// The format that any matrix can be multiplied in, without a conversion that counts.
constexpr std::string_view plain = "row_tiles";

/// What bytes of formats follow from.
template <class T>
struct Structure
{
    static constexpr double value_bytes = sizeof(T);
    CsrView<T> a;
    cudaStream_t stream;
    SellOutlook sell = sell_outlook(a, stream);
};

/// One format, its type forgotten.
template <class T>
struct PlanFormat
{
    std::string_view name;
    bool borrows; ///< reads the matrix that it was made from
    bool repeats; ///< adds in the same order each time
    Built<T> (*build)(CsrView<T> const& a, cudaStream_t stream);
    double (*bytes)(Structure<T> const&);
};

template <class Format, class T>
Built<T> build(CsrView<T> const& a, cudaStream_t stream)
{
    auto made = Format::template build<T>(a, stream);
    auto const kept = std::make_shared<decltype(made) const>(std::move(made));
    return {[a, kept](T const* x, T* y, cudaStream_t on) {
                if constexpr (Format::borrows) {
                    (*kept)(a, x, y, on);
                } else {
                    (*kept)(x, y, on);
                }
            },
            kept->bytes()};
}

template <class T>
std::span<PlanFormat<T> const> formats()
{
    static auto const list = std::apply(
        []<class... Format>(Format...) {
            return std::array{PlanFormat<T>{Format::name.name, Format::borrows, Format::repeats,
                                            build<Format, T>, Format::bytes}...};
        },
        Formats{});
    return list;
}

template <class T>
PlanFormat<T> const& format_named(std::string_view name)
{
    auto const known = formats<T>();
    auto const found = std::ranges::find(known, name, &PlanFormat<T>::name);
    if (found == known.end()) {
        auto const names = known | std::views::transform(&PlanFormat<T>::name);
        throw std::invalid_argument{fmt::format("GPU plan: found format '{}', expected one of {}",
                                                name, fmt::join(names, ", "))};
    }
    return *found;
}

//! [gpu_plan]
/// The formats that suit a matrix and have costs, plain CSR first, then the one that should be
/// fastest for so many multiplies, its conversion included.
template <class T>
std::vector<PlanCandidate> candidates(CsrView<T> const& a, cudaStream_t stream, double multiplies)
{
    Structure<T> const structure{a, stream};
    std::vector<PlanCandidate> found;
    for (auto const& format : formats<T>()) {
        auto const* const cost = costs_of<5>(costs, format.name, sizeof(T));
        double const bytes = format.bytes(structure);
        if (cost != nullptr && bytes != never) {
            double const nanoseconds = cost->nanoseconds(
                {1.0 * a.nonzeros, 1.0 * a.rows, bytes, 1, 1.0 * structure.sell.longest});
            found.push_back({format.name, nanoseconds, cost->margin * nanoseconds,
                             cost->conversion * a.nonzeros});
        }
    }
    std::ranges::stable_sort(found, {}, [&](PlanCandidate const& candidate) {
        return candidate.format == plain
                   ? 0
                   : candidate.nanoseconds + candidate.conversion / multiplies;
    });
    return found;
}
//! [gpu_plan]

double now()
{
    return std::chrono::duration<double>{std::chrono::steady_clock::now().time_since_epoch()}
        .count();
}

} // namespace

template <class T>
Plan<T>::Plan(CsrView<T> const& a, cudaStream_t stream, PlanOptions const& options)
    : rows_{a.rows}, columns_{a.columns}, nonzeros_{a.nonzeros}, csr_bytes_{
                                                                     static_cast<double>(a.bytes())}
{
    double const begin = now();
    if (options.transposed) {
        throw std::invalid_argument{"GPU plan: found products with the transpose, expected a plan "
                                    "of the transpose itself, for instance of what "
                                    "cusparseCsr2cscEx2 makes"};
    }
    if (!(options.multiplies >= 0)) {
        throw std::invalid_argument{
            fmt::format("GPU plan: found {} multiplies, expected 0 or more", options.multiplies)};
    }
    if (!options.format.empty()) {
        format_ = format_named<T>(options.format).name; // refused before the matrix is read
    }
    check(a, stream);
    constexpr double look = 1e6; // nanoseconds that multiplies should take together
    auto const* const cost = costs_of<5>(costs, plain, sizeof(T));
    double const each = cost->nanoseconds({1.0 * a.nonzeros, 1.0 * a.rows, csr_bytes_, 1, 0});
    if (!options.format.empty() || a.nonzeros == 0 || options.multiplies * each < look) {
        format_ = format_named<T>(options.format.empty() ? plain : options.format).name;
        built_ = format_named<T>(format_).build(a, stream);
    } else {
        candidates_ = candidates(a, stream, options.multiplies);
        if (options.timed) {
            keep_fastest(a, stream, options.multiplies);
        } else {
            std::ranges::stable_sort(candidates_, {}, [&](PlanCandidate const& candidate) {
                return candidate.cautious + candidate.conversion / options.multiplies;
            });
            keep_first(a, stream);
        }
    }
    seconds_ = now() - begin;
}

/// Builds the first candidate that can hold the matrix: what is known of them is an estimate.
template <class T>
void Plan<T>::keep_first(CsrView<T> const& a, cudaStream_t stream)
{
    for (auto const& candidate : candidates_) {
        try {
            built_ = format_named<T>(candidate.format).build(a, stream);
            format_ = candidate.format;
            return;
        } catch (std::length_error const&) { // the next one
        }
    }
}

/// Builds and times one candidate after the other, plain CSR first, and keeps the fastest: eight at
/// most, and as many as the multiplies pay for.
template <class T>
void Plan<T>::keep_fastest(CsrView<T> const& a, cudaStream_t stream, double multiplies)
{
    double const begin = now();
    ::cuda::check(cudaStreamSynchronize(stream)); // the matrix stands
    ::cuda::Stream const own;
    ::cuda::Buffer<T> x{static_cast<std::size_t>(a.columns)};
    ::cuda::Buffer<T> y{static_cast<std::size_t>(a.rows)};
    constexpr int in_every_byte = 0x3f; // zeros would make atomic additions look fast
    ::cuda::check(cudaMemsetAsync(x.data(), in_every_byte, x.bytes(), own.get()));
    std::optional<::cuda::TimedGraph> holder; // the fastest so far
    double least = std::numeric_limits<double>::infinity();
    double allowed = std::numeric_limits<double>::infinity();
    int built = 0;
    for (auto& candidate : candidates_) {
        constexpr int most = 8;
        if (built == most || now() - begin + candidate.conversion * 1e-9 > allowed) {
            continue;
        }
        try {
            auto next = format_named<T>(candidate.format).build(a, stream);
            ::cuda::TimedGraph challenger{own,
                                          [&] { next.multiply(x.data(), y.data(), own.get()); },
                                          calls_of(candidate.nanoseconds * 1e-9, round_s)};
            ++built;
            if (!holder) {
                candidate.seconds = challenger();
                allowed = allowed_seconds(multiplies, candidate.seconds);
            } else {
                auto const found = duel(challenger, *holder);
                candidate.seconds = found.challenger;
                least = std::min(least, found.holder);
            }
            if (candidate.seconds < by_chance * least) {
                holder.emplace(std::move(challenger));
                built_ = std::move(next);
                format_ = candidate.format;
                least = candidate.seconds;
            }
        } catch (std::length_error const&) { // the format cannot hold the matrix
        } catch (::cuda::Error const&) {     // no room beside the best
        }
    }
}

template <class T>
void Plan<T>::require_apart(T const* x, T const* y) const
{
    if (base::overlap(x, sizeof(T) * columns_, y, sizeof(T) * rows_)) {
        throw std::invalid_argument{"GPU plan: found x and y that overlap, expected them apart"};
    }
}

template <class T>
void Plan<T>::operator()(T const* x, T* y, cudaStream_t stream) const
{
    require_apart(x, y);
    built_.multiply(x, y, stream);
}

template <class T>
void Plan<T>::operator()(T alpha, T const* x, T beta, T* y, cudaStream_t stream) const
{
    if (alpha == T{0}) {
        scale(beta, y, rows_, stream);
        return;
    }
    if (beta == T{0}) {
        (*this)(x, y, stream);
        if (alpha != T{1}) {
            scale(alpha, y, rows_, stream);
        }
        return;
    }
    require_apart(x, y);
    if (!product_) {
        product_.emplace(static_cast<std::size_t>(rows_));
    }
    built_.multiply(x, product_->data(), stream);
    add_scaled(alpha, product_->data(), beta, y, rows_, stream);
}

template <class T>
void Plan<T>::update(CsrView<T> const& a, cudaStream_t stream)
{
    if (a.rows != rows_ || a.columns != columns_ || a.nonzeros != nonzeros_) {
        throw std::invalid_argument{
            fmt::format("GPU plan: found {} rows, {} columns and {} nonzeros to update one of {}, "
                        "{} and {}, expected as many",
                        a.rows, a.columns, a.nonzeros, rows_, columns_, nonzeros_)};
    }
    check(a, stream);
    try {
        built_ = format_named<T>(format_).build(a, stream);
    } catch (std::length_error const&) { // the format cannot hold it
        built_ = format_named<T>(plain).build(a, stream);
        format_ = plain;
    }
}

template <class T>
bool Plan<T>::repeats() const
{
    return format_named<T>(format_).repeats;
}

template <class T>
bool Plan<T>::borrows() const
{
    return format_named<T>(format_).borrows;
}

template <class T>
std::string Plan<T>::explain() const
{
    double const count = std::max(1.0, 1.0 * nonzeros_);
    double const stored = static_cast<double>(built_.bytes) + (borrows() ? csr_bytes_ : 0.0);
    std::string line = fmt::format(
        "{}; {:.1f} bytes per nonzero where CSR has {:.1f}, ready after {:.2g} ms; results {}; "
        "predicted",
        format_, stored / count, csr_bytes_ / count, 1000 * seconds_,
        repeats() ? "repeat bit for bit" : "may differ in their last bits");
    for (auto const& candidate : candidates_) {
        line += fmt::format(" {} {:.2g}", candidate.format, candidate.nanoseconds / 1000);
        line += candidate.seconds == 0 ? "" : fmt::format(" timed {:.2g}", 1e6 * candidate.seconds);
        line += &candidate == &candidates_.back() ? " us" : ",";
    }
    return line + "; costs " + digest_of<5>(costs);
}

template class Plan<float>;
template class Plan<double>;

} // namespace spmv::gpu
