#include "spmv/plan.hpp"

#include "machine/topology.hpp"
#include "spmv/decimal.hpp"
#include "spmv/long_rows.hpp"
#include "spmv/plan_formats.hpp"
#include "spmv/plan_model.hpp"
#include "spmv/shared_work.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <stdexcept>
#include <type_traits>

namespace spmv {

namespace {

/// Threads of a multiply.
int threads_of(PlanOptions const& options)
{
    if (options.threads < 0) {
        throw std::invalid_argument{"plan: found " + std::to_string(options.threads) +
                                    " threads, expected 1 or more, or 0 for all"};
    }
    return options.threads == 0 ? omp_get_max_threads() : options.threads;
}

template <class T>
PlanFormat<T> const& format_named(std::string_view name)
{
    auto const table = plan_format_table<T>();
    auto const found = std::ranges::find(table, name, &PlanFormat<T>::name);
    if (found == table.end()) {
        std::string known;
        for (auto const& format : table) {
            known += std::string{known.empty() ? "" : ", "} + std::string{format.name};
        }
        throw std::invalid_argument{"plan: found format '" + std::string{name} +
                                    "', expected one of " + known};
    }
    return *found;
}

} // namespace

template <class T>
struct Plan<T>::State
{
    int threads;
    std::int32_t rows;
    std::int32_t columns;
    std::size_t nonzeros;
    Estimate choice;
    PlanFormat<T> format;
    sparse::Csr<T> short_rows;           ///< of the matrix, if a format works on them
    std::unique_ptr<Parted<T>> matrix;   ///< all rows, or the short ones
    std::unique_ptr<Parted<T>> pieces;   ///< of long rows; null if there are none
    std::vector<std::int32_t> long_rows; ///< of the matrix
    std::vector<std::int32_t> first_piece;
    int trials = 1;
    bool is_alone = false; ///< one thread, where more were asked for
    double seconds = 0;

    /// Converts as was chosen.
    State(sparse::CsrView<T> const& a, PlanOptions const& options, int used_threads,
          Estimate chosen);

    void multiply(T const* x, T* y) const;

private:
    void convert(sparse::CsrView<T> const& a, FormatKernels<T> const& kernels);
};

/// The choice of the model, or the best way to build the format that was asked for.
//! [plan]
template <class T>
Estimate choose(sparse::CsrView<T> const& a, PlanOptions const& options, int threads)
{
    constexpr double too_few = 20; // multiplies that cannot even pay for a look at the structure
    bool const look = options.multiplies >= too_few || !options.format.empty();
    std::vector<Estimate> estimates;
    if (look && a.nonzeros() > 0) {
        auto const processor = detect_processor(format_kernels<T>(options.kernels).name);
        estimates =
            estimate_formats(a, processor, ModelOptions{threads, options.cold, options.format});
    }
    if (estimates.empty()) {
        std::string_view const asked = options.format; // a view: estimates own no names
        estimates.push_back({.format = asked.empty() ? "csr" : asked});
    }
    Estimate best = best_estimate(estimates, options.multiplies);
    best.format = format_named<T>(best.format).name; // outlives the options
    best.build.threads = threads;
    best.build.narrow_values = options.narrow_values;
    return best;
}
//! [plan]

namespace {

/// As many threads as were asked for, or one where waking the others should take clearly longer
/// than they save. A format that was asked for gets all of them.
template <class T>
int useful_threads(sparse::CsrView<T> const& a, PlanOptions const& options)
{
    constexpr double too_few = 20;          // multiplies: nobody looks at the structure
    constexpr std::size_t plenty = 100'000; // nonzeros that take longer than dozens of threads wake
    int const asked = threads_of(options);
    if (asked == 1 || !options.format.empty() || options.multiplies < too_few ||
        a.nonzeros() == 0 || a.nonzeros() > plenty) {
        return asked;
    }
    auto const processor = detect_processor(format_kernels<T>(options.kernels).name);
    auto const nanoseconds = [&](int threads) {
        auto const estimates = estimate_formats(a, processor, ModelOptions{threads, options.cold});
        auto const best = best_estimate(estimates, options.multiplies);
        return best.nanoseconds + best.conversion / options.multiplies;
    };
    constexpr double clearly = 0.8; // as far as estimates of two kinds of work can be compared
    return nanoseconds(1) < clearly * nanoseconds(asked) ? 1 : asked;
}

/// Whether clocks have a say in the choice.
template <class T>
bool tries(sparse::CsrView<T> const& a, PlanOptions const& options)
{
    constexpr double too_few = 1000; // multiplies that do not pay for trials
    if (options.trials == 1 || !options.format.empty() || options.narrow_values) {
        return false;
    }
    // A format may be half as large as CSR: what is timed has to come from memory too.
    bool const may_stay =
        a.nonzeros() * (sizeof(T) + 4) < 2 * machine::topology().core_caches.shared;
    return a.nonzeros() > 0 && options.multiplies >= too_few && !(options.cold && may_stay);
}

/// The best ways to build some formats, one of each, the one that should be fastest first.
template <class T>
std::vector<Estimate> candidates(sparse::CsrView<T> const& a, PlanOptions const& options,
                                 int threads)
{
    if (options.trials < 1) {
        throw std::invalid_argument{"plan: found " + std::to_string(options.trials) +
                                    " trials, expected 1 or more"};
    }
    if (!tries(a, options)) {
        return {choose<T>(a, options, threads)};
    }
    auto const processor = detect_processor(format_kernels<T>(options.kernels).name);
    auto estimates = estimate_formats(a, processor, ModelOptions{threads, options.cold});
    std::ranges::sort(estimates, {}, [&](Estimate const& estimate) {
        return estimate.nanoseconds + estimate.conversion / options.multiplies;
    });
    std::vector<Estimate> found;
    for (Estimate& estimate : estimates) {
        bool const is_new =
            std::ranges::find(found, estimate.format, &Estimate::format) == found.end();
        if (is_new && found.size() < static_cast<std::size_t>(options.trials)) {
            found.push_back(std::move(estimate));
        }
    }
    return found;
}

/// Seconds of so many multiplies, after others that bring into the caches what was taken out: a
/// shared cache, in which few multiplies already take long, holds it after a few.
template <class Multiply>
double seconds_of(Multiply const& multiply, int calls)
{
    int const settling = calls < 8 ? 4 : 1;
    for (int call = 0; call < settling; ++call) {
        multiply();
    }
    auto const begin = std::chrono::steady_clock::now();
    for (int call = 0; call < calls; ++call) {
        multiply();
    }
    return std::chrono::duration<double>{std::chrono::steady_clock::now() - begin}.count();
}

/// Compares two ways to multiply in rounds, in which each begins in turn. Of two that are alike,
/// the challenger wins once in fifty times.
//! [trial]
template <class Challenger, class Holder>
bool is_faster(Challenger const& challenger, Holder const& holder)
{
    constexpr int rounds = 9;
    constexpr int needed = 8; // wins
    constexpr double round_s = 300e-6;
    double const once = std::min(seconds_of(challenger, 1), seconds_of(challenger, 1));
    auto const calls = static_cast<int>(std::clamp(round_s / std::max(once, 1e-9), 1.0, 1000.0));
    int wins = 0;
    for (int round = 0; round < rounds; ++round) {
        bool const first = round % 2 == 0;
        double const before = first ? seconds_of(challenger, calls) : 0;
        double const other = seconds_of(holder, calls);
        double const own = first ? before : seconds_of(challenger, calls);
        wins += own < other ? 1 : 0;
    }
    return wins >= needed;
}
//! [trial]

} // namespace

template <class T>
Plan<T>::State::State(sparse::CsrView<T> const& a, PlanOptions const& options, int used_threads,
                      Estimate chosen)
    : threads{used_threads}, rows{a.rows}, columns{a.columns}, nonzeros{a.nonzeros()},
      choice{std::move(chosen)}, format{format_named<T>(choice.format)}
{
    if (options.narrow_values && (std::is_same_v<T, float> || !format.narrows)) {
        throw std::invalid_argument{"plan: narrow values are for double matrices in the formats "
                                    "sell32, sell16 and sell_unit"};
    }
    convert(a, format_kernels<T>(options.kernels));
}

template <class T>
void Plan<T>::State::convert(sparse::CsrView<T> const& a, FormatKernels<T> const& kernels)
{
    constexpr std::int32_t piece = 4096;
    auto split = spmv::long_rows(a, choice.build.longest_row, piece);
    if (split.rows.empty()) {
        matrix = format.make(a, kernels, choice.build);
        return;
    }
    short_rows = without_long_rows(a, choice.build.longest_row);
    matrix = format.make(short_rows, kernels, choice.build);
    if (!format.borrows) {
        short_rows = {};
    }
    pieces = make_pieces(std::move(split.pieces), kernels, choice.build);
    long_rows = std::move(split.rows);
    first_piece = std::move(split.first_piece);
}

template <class T>
void Plan<T>::State::multiply(T const* x, T* y) const
{
    std::vector<T> sums(pieces ? static_cast<std::size_t>(first_piece.back()) : 0);
    for_each_part(threads, choice.build.shares,
                  [uncut = matrix.get(), cut = pieces.get(), x, y, sums = sums.data()](int part) {
                      uncut->multiply(part, x, y);
                      if (cut) {
                          cut->multiply(part, x, sums);
                      }
                  });
    for (std::size_t k = 0; k < long_rows.size(); ++k) {
        T sum = 0;
        for (std::int32_t piece = first_piece[k]; piece < first_piece[k + 1]; ++piece) {
            sum += sums[static_cast<std::size_t>(piece)];
        }
        y[long_rows[k]] = sum;
    }
}

template <class T>
Plan<T>::Plan(sparse::CsrView<T> const& a, PlanOptions const& options)
{
    auto const begin = std::chrono::steady_clock::now();
    int const threads = useful_threads<T>(a, options);
    auto choices = candidates<T>(a, options, threads);
    auto best = std::make_unique<State>(a, options, threads, std::move(choices.front()));
    std::vector<T> const x(choices.size() > 1 ? static_cast<std::size_t>(a.columns) : 0, T{1});
    std::vector<T> y(choices.size() > 1 ? static_cast<std::size_t>(a.rows) : 0);
    auto const multiply = [&](State const& state) {
        return [&] { state.multiply(x.data(), y.data()); };
    };
    int built = 1;
    for (auto next = choices.begin() + 1; next != choices.end(); ++next) {
        try {
            auto other = std::make_unique<State>(a, options, threads, std::move(*next));
            ++built;
            if (is_faster(multiply(*other), multiply(*best))) {
                best = std::move(other);
            }
        } catch (std::length_error const&) { // the format cannot hold the matrix
        } catch (std::bad_alloc const&) {    // no room beside the best
        }
    }
    best->trials = built;
    best->is_alone = threads < threads_of(options);
    best->seconds = std::chrono::duration<double>{std::chrono::steady_clock::now() - begin}.count();
    state_ = std::move(best);
}

template <class T>
Plan<T>::~Plan() = default;
template <class T>
Plan<T>::Plan(Plan&&) noexcept = default;
template <class T>
Plan<T>& Plan<T>::operator=(Plan&&) noexcept = default;

template <class T>
void Plan<T>::operator()(std::span<T const> x, std::span<T> y) const
{
    if (x.size() != static_cast<std::size_t>(state_->columns) ||
        y.size() != static_cast<std::size_t>(state_->rows)) {
        throw std::invalid_argument{"plan: found x of " + std::to_string(x.size()) + " and y of " +
                                    std::to_string(y.size()) + " elements, expected " +
                                    std::to_string(state_->columns) + " and " +
                                    std::to_string(state_->rows)};
    }
    state_->multiply(x.data(), y.data());
}

template <class T>
std::string_view Plan<T>::format() const
{
    return state_->format.name;
}

template <class T>
bool Plan<T>::borrows() const
{
    return state_->format.borrows && state_->long_rows.empty(); // else on a copy of the short ones
}

template <class T>
int Plan<T>::threads() const
{
    return state_->threads;
}

template <class T>
std::size_t Plan<T>::bytes() const
{
    return state_->matrix->bytes() + (state_->pieces ? state_->pieces->bytes() : 0);
}

template <class T>
double Plan<T>::seconds() const
{
    return state_->seconds;
}

template <class T>
std::string Plan<T>::explain() const
{
    auto const& [threads, rows, columns, nonzeros, choice, format, short_rows, matrix, pieces,
                 long_rows, first_piece, trials, is_alone, seconds] = *state_;
    double const count = static_cast<double>(std::max<std::size_t>(1, nonzeros));
    double const csr = sizeof(T) + 4 + 4.0 * (rows + 1) / count;
    std::string line{format.name};
    line += choice.detail.empty() ? "" : ": " + choice.detail;
    line += choice.build.narrow_values ? ", values in single precision" : "";
    line += long_rows.empty() ? "" : ", " + std::to_string(long_rows.size()) + " rows in pieces";
    return line + decimal("; %.1f bytes per nonzero", static_cast<double>(bytes()) / count) +
           decimal(" where CSR has %.1f, ", csr) + std::to_string(threads) +
           (threads == 1 ? " thread" : " threads") +
           (choice.build.shares == 1
                ? ""
                : " of " + std::to_string(choice.build.shares) + " shares each") +
           (is_alone ? " as others would take longer to wake, " : ", ") +
           (trials == 1 ? "" : "fastest of " + std::to_string(trials) + " that were timed, ") +
           decimal("ready after %.2g ms", 1000 * seconds);
}

std::vector<FormatName> plan_formats()
{
    std::vector<FormatName> names;
    for (auto const& format : plan_format_table<double>()) {
        names.push_back({format.name, format.excerpt});
    }
    return names;
}

template <class T>
std::vector<std::string> plan_builds(sparse::CsrView<T> const& a, PlanOptions const& options)
{
    auto const processor = detect_processor(format_kernels<T>(options.kernels).name);
    ModelOptions const model{threads_of(options), options.cold, options.format};
    std::vector<std::string> names;
    for (auto& estimate : estimate_formats(a, processor, model)) {
        if (estimate.name != estimate.format) {
            names.push_back(std::move(estimate.name));
        }
    }
    return names;
}

template std::vector<std::string> plan_builds(sparse::CsrView<float> const&, PlanOptions const&);
template std::vector<std::string> plan_builds(sparse::CsrView<double> const&, PlanOptions const&);
template class Plan<float>;
template class Plan<double>;

} // namespace spmv
