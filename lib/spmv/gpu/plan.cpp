#include "spmv/gpu/plan.hpp"

#include "spmv/gpu/block_sell.hpp"
#include "spmv/gpu/blocked_coo.hpp"
#include "spmv/gpu/diagonal_dictionary.hpp"
#include "spmv/gpu/diagonals.hpp"
#include "spmv/gpu/merge_path.hpp"
#include "spmv/gpu/row_tiles.hpp"
#include "spmv/gpu/rows.hpp"
#include "spmv/gpu/sell.hpp"
#include "spmv/gpu/two_phase.hpp"
#include "spmv/plan/costs.hpp"
#include "spmv/plan/duel.hpp"

#include "cuda/error.hpp"
#include "cuda/graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>

namespace spmv::gpu {

namespace {

constexpr Costs<5> costs[] = {
#include "spmv/plan/gpu_costs.inc"
};

/// The format that any matrix can be multiplied in, without a conversion that counts.
constexpr std::string_view plain = "row_tiles";

/// Consecutive rows of `a`, copied to the host.
template <class T>
sparse::Csr<T> rows_of(CsrView<T> const& a, std::int32_t first, std::int32_t last)
{
    sparse::Csr<T> host{last - first, a.columns, {}, {}, {}};
    host.row_ptr.resize(static_cast<std::size_t>(host.rows) + 1);
    ::cuda::copy_to_host(host.row_ptr.data(), a.row_ptr + first, host.row_ptr.size() * 4);
    std::int32_t const begin = host.row_ptr.front();
    for (auto& offset : host.row_ptr) {
        offset -= begin;
    }
    host.col.resize(static_cast<std::size_t>(host.row_ptr.back()));
    host.values.resize(host.col.size());
    ::cuda::copy_to_host(host.col.data(), a.col + begin, host.col.size() * 4);
    ::cuda::copy_to_host(host.values.data(), a.values + begin, host.values.size() * sizeof(T));
    return host;
}

/// Rows from the middle, a whole number of blocks, on the host.
template <class T>
sparse::Csr<T> sample_of(CsrView<T> const& a)
{
    constexpr std::int32_t rows = 1536;
    std::int32_t const first = std::max(0, a.rows / 2 - rows / 2) / 48 * 48;
    return rows_of(a, first, std::min(a.rows, first + rows));
}

/// What bytes of formats follow from.
template <class T>
struct Structure
{
    CsrView<T> a;
    SellOutlook sell;
    double diagonal_elements;
    sparse::BlockShape shape; ///< 1 x 1 if no blocks save bytes
    double fill = 1;

    Structure(CsrView<T> const& of, cudaStream_t stream)
        : a{of}, sell{sell_outlook(of, stream)}, diagonal_elements{static_cast<double>(
                                                     gpu::diagonal_elements(of, stream))}
    {
        auto const sample = sample_of(a);
        shape = sparse::best_block_shape(sample, sizeof(T));
        fill = sparse::block_fill(sample, shape);
    }

    double csr() const { return static_cast<double>(a.bytes()); }

    bool sorts() const { return static_cast<double>(sell.elements) > 1.1 * a.nonzeros; }

    /// Elements of slices.
    double slices() const
    {
        return sorts() ? 1.03 * a.nonzeros : static_cast<double>(sell.elements);
    }
};

constexpr double never = -1; ///< bytes of a format that does not suit a matrix

template <class T>
Built<T> kept(auto format)
{
    auto const bytes = format.bytes();
    return {[kept = std::make_shared<decltype(format) const>(std::move(format))](
                T const* x, T* y, cudaStream_t stream) { (*kept)(x, y, stream); },
            bytes};
}

/// A kernel that reads `a`, with what it prepared.
template <class T>
Built<T> kept_beside(CsrView<T> const& a, auto prepared)
{
    auto const bytes = prepared.bytes();
    return {[a, kept = std::make_shared<decltype(prepared) const>(std::move(prepared))](
                T const* x, T* y, cudaStream_t stream) { (*kept)(a, x, y, stream); },
            bytes};
}

template <class T, int lanes>
Built<T> build_vector(CsrView<T> const& a, cudaStream_t)
{
    return {[a](T const* x, T* y, cudaStream_t stream) { vector_early(lanes, a, x, y, stream); }};
}

template <class T, TileSize size>
Built<T> build_tiles(CsrView<T> const& a, cudaStream_t stream)
{
    return kept_beside(a, RowTiles<T>{a, size, stream});
}

template <class T>
Built<T> build_blocks(CsrView<T> const& a, cudaStream_t stream)
{
    auto const shape = sparse::best_block_shape(sample_of(a), sizeof(T));
    return kept<T>(BlockSell<T>{a, shape, stream});
}

/// One format or kernel.
template <class T>
struct Format
{
    std::string_view name;
    bool borrows; ///< reads the matrix that it was made from
    Built<T> (*build)(CsrView<T> const& a, cudaStream_t stream);
    double (*bytes)(Structure<T> const&);
};

/// The list of all of them.
template <class T>
std::vector<Format<T>> const& formats()
{
    using S = Structure<T> const&;
    using A = CsrView<T> const&;
    auto const csr = [](S s) { return s.csr(); };
    static std::vector<Format<T>> const list = {
        {plain, true, build_tiles<T, TileSize::usual>, csr},
        {"small_tiles", true, build_tiles<T, TileSize::small>, csr},
        {"large_tiles", true, build_tiles<T, TileSize::large>, csr},
        {"merge_path", true,
         [](A a, cudaStream_t on) {
             return kept_beside(a, MergePath<T>{a, on});
         },
         csr},
        {"vector_early2", true, build_vector<T, 2>, csr},
        {"vector_early4", true, build_vector<T, 4>, csr},
        {"vector_early8", true, build_vector<T, 8>, csr},
        {"vector_early16", true, build_vector<T, 16>, csr},
        {"vector_early32", true, build_vector<T, 32>, csr},
        {"sell32", false,
         [](A a, cudaStream_t on) {
             return kept<T>(Sell<T>{a, false, on});
         },
         [](S s) { return s.slices() * (4 + sizeof(T)) + (s.sorts() ? 4.0 * s.a.rows : 0); }},
        {"sell16", false,
         [](A a, cudaStream_t on) {
             return kept<T>(Sell<T>{a, true, on});
         },
         [](S s) { return s.sell.is_narrow && !s.sorts() ? s.slices() * (2 + sizeof(T)) : never; }},
        {"diagonals", false,
         [](A a, cudaStream_t on) {
             return kept<T>(Diagonals<T>{a, on});
         },
         [](S s) {
             return s.diagonal_elements <= 2.0 * s.a.nonzeros ? s.diagonal_elements * sizeof(T)
                                                              : never;
         }},
        {"diagonal_dictionary", false,
         [](A a, cudaStream_t on) {
             return kept<T>(DiagonalDictionary<T>{a, on});
         },
         [](S s) {
             return s.sell.elements <= 2.0 * s.a.nonzeros
                        ? static_cast<double>(s.sell.elements) * (1 + sizeof(T))
                        : never;
         }},
        {"block_sell", false, build_blocks<T>,
         [](S s) {
             return s.shape.size() == 1 || s.shape.rows == 8
                        ? never
                        : s.fill * s.a.nonzeros * (sizeof(T) + 4.0 / s.shape.size());
         }},
        {"blocked_coo", false,
         [](A a, cudaStream_t on) {
             return kept<T>(BlockedCoo<T>{a, on});
         },
         [](S s) { return s.a.nonzeros * (4.0 + sizeof(T)); }},
        {"two_phase", false,
         [](A a, cudaStream_t on) {
             return kept<T>(TwoPhase<T>{a, on});
         },
         [](S s) { return s.a.nonzeros * (4.0 + 2 * sizeof(T)); }},
    };
    return list;
}

template <class T>
Format<T> const& format_named(std::string_view name)
{
    auto const found = std::ranges::find(formats<T>(), name, &Format<T>::name);
    if (found == formats<T>().end()) {
        throw std::invalid_argument{fmt::format("GPU plan: found format '{}', expected one of {}",
                                                name, fmt::join(plan_formats(), ", "))};
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

/// Multiplies as one graph between two marks, so that no gap before a launch counts.
template <class T>
class Timed
{
public:
    Timed(Built<T> const& built, T const* x, T* y, ::cuda::Stream const& stream, int calls)
        : stream_{stream}, calls_{calls}, graph_{stream, [&] {
                                                     start_.record_in_graph(stream);
                                                     for (int call = 0; call < calls; ++call) {
                                                         built.multiply(x, y, stream.get());
                                                     }
                                                     stop_.record_in_graph(stream);
                                                 }}
    {
        (*this)(); // brings the matrix into the cache
    }

    /// Seconds of a multiply, as timed now.
    double operator()()
    {
        graph_.replay(stream_);
        stream_.synchronize();
        double const taken = stop_.seconds_since(start_) / calls_;
        return taken > 0 ? taken : std::numeric_limits<double>::max();
    }

private:
    ::cuda::Stream const& stream_;
    int calls_;
    ::cuda::Event start_;
    ::cuda::Event stop_;
    ::cuda::Graph graph_;
};

double now()
{
    return std::chrono::duration<double>{std::chrono::steady_clock::now().time_since_epoch()}
        .count();
}

} // namespace

std::vector<std::string_view> plan_formats()
{
    std::vector<std::string_view> names;
    for (auto const& format : formats<float>()) {
        names.push_back(format.name);
    }
    return names;
}

template <class T>
Plan<T>::Plan(CsrView<T> const& a, cudaStream_t stream, PlanOptions const& options)
    : nonzeros_{static_cast<double>(a.nonzeros)}, csr_bytes_{static_cast<double>(a.bytes())}
{
    double const begin = now();
    constexpr double look = 1e6; // nanoseconds that multiplies should take together
    auto const* const cost = costs_of<5>(costs, plain, sizeof(T));
    double const each = cost->nanoseconds({nonzeros_, 1.0 * a.rows, csr_bytes_, 1, 0});
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

/// Builds and times one candidate after the other, plain CSR first, and keeps the fastest: six at
/// most, and as many as the multiplies pay for.
template <class T>
void Plan<T>::keep_fastest(CsrView<T> const& a, cudaStream_t stream, double multiplies)
{
    double const begin = now();
    ::cuda::check(cudaStreamSynchronize(stream)); // the matrix stands
    ::cuda::Stream const own;
    ::cuda::Buffer<T> x{static_cast<std::size_t>(a.columns)};
    ::cuda::Buffer<T> y{static_cast<std::size_t>(a.rows)};
    ::cuda::check(cudaMemsetAsync(x.data(), 0, x.bytes(), own.get()));
    auto const timed = [&](Built<T> const& built, int calls) {
        return Timed<T>{built, x.data(), y.data(), own, calls};
    };
    double least = 0; // of the best so far, ever
    double allowed = std::numeric_limits<double>::infinity();
    int built = 0;
    for (auto& candidate : candidates_) {
        constexpr int most = 6;
        if (built == most || now() - begin + candidate.conversion * 1e-9 > allowed) {
            continue;
        }
        try {
            auto next = format_named<T>(candidate.format).build(a, stream);
            candidate.seconds = timed(next, 1)();
            ++built;
            bool wins = built == 1;
            if (wins) {
                allowed = allowed_seconds(multiplies, candidate.seconds);
            } else {
                int const calls = calls_of(candidate.seconds);
                auto challenger = timed(next, calls);
                auto holder = timed(built_, calls);
                auto const found = duel([&] { return challenger(); }, [&] { return holder(); });
                candidate.seconds = found.challenger;
                wins = found.challenger < by_chance * std::min(least, found.holder);
                least = std::min(least, found.holder);
            }
            if (wins) {
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
bool Plan<T>::borrows() const
{
    return format_named<T>(format_).borrows;
}

template <class T>
std::string Plan<T>::explain() const
{
    double const count = std::max(1.0, nonzeros_);
    double const stored = static_cast<double>(built_.bytes) + (borrows() ? csr_bytes_ : 0.0);
    std::string line = fmt::format(
        "{}; {:.1f} bytes per nonzero where CSR has {:.1f}, ready after {:.2g} ms; predicted",
        format_, stored / count, csr_bytes_ / count, 1000 * seconds_);
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
