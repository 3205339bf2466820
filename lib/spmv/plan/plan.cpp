#include "spmv/plan.hpp"

#include "base/bytes.hpp"
#include "base/duel.hpp"
#include "machine/topology.hpp"
#include "sparse/check.hpp"
#include "sparse/convert.hpp"
#include "spmv/formats/costs.hpp"
#include "spmv/plan/cache_sweep.hpp"
#include "spmv/plan/candidates.hpp"
#include "spmv/plan/decimal.hpp"
#include "spmv/plan/shared_work.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <new>
#include <stdexcept>
#include <tuple>
#include <type_traits>

namespace spmv {

using base::allowed_seconds;
using base::by_chance;
using base::calls_of;
using base::duel;

namespace {

/// A clock, in seconds from any beginning.
using Clock = double (*)();

/// Seconds of a multiply, after one that brings into the caches what was taken out, or where
/// `sweep` is not null after what empties them; the largest number if the clock stood still or went
/// back.
template <class Multiply>
double seconds_of(Multiply const& multiply, int calls, Clock clock, CacheSweep* sweep)
{
    multiply();
    if (sweep != nullptr) {
        (*sweep)();
        calls = 1;
    }
    double const begin = clock();
    for (int call = 0; call < calls; ++call) {
        multiply();
    }
    double const taken = (clock() - begin) / calls;
    return taken > 0 ? taken : std::numeric_limits<double>::max();
}

/// The matrix as it is multiplied.
template <class T>
struct Converted
{
    Candidate<T> choice;
    std::int32_t rows;
    std::int32_t columns;
    std::size_t nonzeros;
    sparse::Csr<T> short_rows;           ///< of the matrix, if a format works on them
    std::unique_ptr<Parted<T>> matrix;   ///< all rows, or the short ones
    std::unique_ptr<Parted<T>> pieces;   ///< of long rows; null if there are none
    std::vector<std::int32_t> long_rows; ///< of the matrix
    std::vector<std::int32_t> first_piece;

    /// Converts as was chosen.
    Converted(sparse::CsrView<T> const& a, Candidate<T> chosen, FormatKernels<T> const& kernels);

    /// Whether a multiply reads the matrix it was made from: with long rows, a copy of the others.
    bool reads_given() const { return choice.format->borrows && long_rows.empty(); }

    void multiply(T const* x, T* y) const;
};

template <class T>
Converted<T>::Converted(sparse::CsrView<T> const& a, Candidate<T> chosen,
                        FormatKernels<T> const& kernels)
    : choice{std::move(chosen)}, rows{a.rows}, columns{a.columns}, nonzeros{a.nonzeros()}
{
    constexpr std::int32_t piece = 4096;
    auto split = spmv::long_rows(a, choice.build.longest_row, piece);
    if (split.rows.empty()) {
        matrix = choice.format->make(a, kernels, choice.build);
        return;
    }
    short_rows = without_long_rows(a, choice.build.longest_row);
    matrix = choice.format->make(short_rows, kernels, choice.build);
    if (!choice.format->borrows) {
        short_rows = {};
    }
    pieces = make_pieces(std::move(split.pieces), kernels, choice.build);
    long_rows = std::move(split.rows);
    first_piece = std::move(split.first_piece);
}

template <class T>
void Converted<T>::multiply(T const* x, T* y) const
{
    std::vector<T> sums(pieces ? static_cast<std::size_t>(first_piece.back()) : 0);
    for_each_part(choice.build.threads, choice.build.shares,
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

/// More threads than any system has processors for: one that cannot start them ends the process.
constexpr int most_threads = 8192;

constexpr double too_few = 20; // multiplies that cannot even pay for a look at the structure

double steady_seconds()
{
    return std::chrono::duration<double>{std::chrono::steady_clock::now().time_since_epoch()}
        .count();
}

/// Threads of a multiply.
int threads_of(PlanOptions const& options)
{
    int const threads = options.threads == 0 ? omp_get_max_threads() : options.threads;
    if (threads < 0) {
        throw std::invalid_argument{"plan: found " + std::to_string(threads) +
                                    " threads, expected 1 or more, or 0 for all"};
    }
    if (threads > most_threads) {
        throw std::invalid_argument{"plan: found " + std::to_string(threads) +
                                    " threads, expected at most " + std::to_string(most_threads)};
    }
    return threads;
}

/// Throws `std::invalid_argument` if this is no number of multiplies.
void check_multiplies(double multiplies)
{
    if (!(multiplies >= 0)) {
        throw std::invalid_argument{"plan: found " + rough(multiplies) +
                                    " multiplies, expected 0 or more"};
    }
}

/// The format that was asked for; empty if any may be chosen.
template <class T>
std::string_view format_of(PlanOptions const& options)
{
    auto const* const asked =
        options.format.empty() ? nullptr : &format_to_ask_for<T>(options.format);
    if (!options.narrow_values) {
        return asked == nullptr ? "" : asked->name.name;
    }
    if (std::is_same_v<T, float> || (asked != nullptr && asked->name.excerpt != "sell")) {
        throw std::invalid_argument{"plan: narrow values are for double matrices in the formats "
                                    "sell32, sell16 and sell_unit"};
    }
    return "sell_single";
}

/// Lets one thread multiply where the matrix is small: waking the others would take clearly longer
/// than they save.
template <class T>
void keep_to_one_thread_if_small(std::vector<Candidate<T>>& found, int threads)
{
    constexpr double clearly = 0.8;
    double const wake = 1000 * std::log2(threads); // nanoseconds, about those of any processor
    double const shared = found.front().nanoseconds;
    double const alone = threads * shared;
    if (threads > 1 && alone < clearly * (shared + wake)) {
        for (auto& candidate : found) {
            candidate.nanoseconds *= threads;
            candidate.cautious *= threads;
            candidate.build.threads = candidate.build.shares = 1;
        }
    }
}

/// Bytes to sweep before a multiply that has to find caches cold which could hold the matrix, of
/// which a format may be half as large as CSR; 0 where nothing has to be swept.
template <class T>
std::size_t swept_bytes(sparse::CsrView<T> const& a, PlanOptions const& options)
{
    std::size_t const twice = 2 * machine::topology().core_caches.shared;
    return options.cold && a.nonzeros() * (sizeof(T) + 4) < twice ? twice : 0;
}

/// Whether there is time for a clock: not where the memory that is swept before a cold multiply
/// takes longer to fill and sweep once than all of timing may take.
template <class T>
bool may_be_timed(sparse::CsrView<T> const& a, std::vector<Candidate<T>> const& found,
                  PlanOptions const& options)
{
    constexpr double seconds_a_byte = 0.3e-9; // assumed, not fitted
    auto const csr = std::ranges::find_if(
        found, [](Candidate<T> const& candidate) { return candidate.format->borrows; });
    double const sweep = seconds_a_byte * static_cast<double>(swept_bytes(a, options));
    return options.timed && (sweep == 0 || csr == found.end() ||
                             sweep < allowed_seconds(options.multiplies, 1e-9 * csr->nanoseconds));
}

/// The candidate that CSR is left for only if it gains more than the table of costs may err.
template <class T>
Candidate<T> const& best_untimed(std::vector<Candidate<T>> const& found, double multiplies)
{
    return *std::ranges::min_element(found, {}, [&](Candidate<T> const& candidate) {
        return candidate.cautious + candidate.conversion / multiplies;
    });
}

/// Keeps six: CSR, which is there already, and those that should be fastest, their conversion
/// included. The first of each family, whose formats share a kernel, come first, as time may be up
/// before all are timed. Returns the others.
template <class T>
std::vector<Candidate<T>> keep_best(std::vector<Candidate<T>>& found, double multiplies)
{
    constexpr std::size_t most = 6;
    std::ranges::stable_sort(found, {}, [&](Candidate<T> const& candidate) {
        return candidate.format->borrows
                   ? 0
                   : candidate.nanoseconds + candidate.conversion / multiplies;
    });
    auto const kept = found.begin() + static_cast<std::ptrdiff_t>(std::min(most, found.size()));
    std::vector<Candidate<T>> others(kept, found.end());
    found.erase(kept, found.end());
    std::vector<std::string_view> families;
    std::stable_partition(found.begin(), found.end(), [&](Candidate<T> const& candidate) {
        auto const family = candidate.format->name.excerpt;
        bool const is_new = std::ranges::find(families, family) == families.end();
        families.push_back(family);
        return is_new;
    });
    return others;
}

//! [plan]
/// Builds and times one candidate after the other and keeps the fastest, CSR first. They may take
/// together as long as a quarter of the expected multiplies, and no longer than four hundred; where
/// that is over before a second one was timed, the table decides.
template <class T>
std::unique_ptr<Converted<T> const>
fastest(sparse::CsrView<T> const& a, std::vector<Candidate<T>>& candidates,
        FormatKernels<T> const& kernels, PlanOptions const& options)
{
    Clock const clock = options.clock == nullptr ? steady_seconds : options.clock;
    double const begin = clock();
    std::vector<T> const x(static_cast<std::size_t>(a.columns), T{1});
    std::vector<T> y(static_cast<std::size_t>(a.rows));
    std::size_t const swept = swept_bytes(a, options);
    CacheSweep sweep{swept};
    auto const seconds = [&](Converted<T> const& matrix, int calls) {
        return seconds_of([&] { matrix.multiply(x.data(), y.data()); }, calls, clock,
                          swept == 0 ? nullptr : &sweep);
    };
    auto best = std::make_unique<Converted<T> const>(a, candidates.front(), kernels);
    double const csr = seconds(*best, 2);
    double least = csr; // of the best so far, ever
    candidates.front().seconds = csr;
    double const allowed = allowed_seconds(options.multiplies, csr);
    if (clock() - begin >= allowed) {
        auto const& choice = best_untimed(candidates, options.multiplies);
        return std::make_unique<Converted<T> const>(a, choice, kernels);
    }
    for (auto next = candidates.begin() + 1; next != candidates.end() && clock() - begin < allowed;
         ++next) {
        try {
            auto other = std::make_unique<Converted<T> const>(a, *next, kernels);
            int const calls = calls_of(seconds(*other, 1));
            auto const found =
                duel([&] { return seconds(*other, calls); }, [&] { return seconds(*best, calls); });
            next->seconds = found.challenger;
            least = std::min(least, found.holder);
            if (found.challenger < by_chance * least) {
                best = std::move(other);
                least = found.challenger;
            }
        } catch (std::length_error const&) { // the format cannot hold the matrix
        } catch (std::bad_alloc const&) {    // no room beside the best
        }
    }
    return best;
}
//! [plan]

/// Where the table of costs errs by much, it errs for all of a family: those of the winner's that
/// were not among the best are timed too and added to `found`, if the time that is left after
/// `spent` seconds allows it.
template <class T>
std::unique_ptr<Converted<T> const>
best_of_family(sparse::CsrView<T> const& a, std::unique_ptr<Converted<T> const> winner,
               std::vector<Candidate<T>>& found, std::vector<Candidate<T>> const& others,
               double spent, FormatKernels<T> const& kernels, PlanOptions options)
{
    auto const& format = *winner->choice.format;
    auto const won = *std::ranges::find(found, &format, &Candidate<T>::format);
    std::vector<Candidate<T>> family{won};
    std::ranges::copy_if(others, std::back_inserter(family), [&](Candidate<T> const& other) {
        return other.format->name.excerpt == format.name.excerpt;
    });
    double const left = allowed_seconds(options.multiplies, found.front().seconds) - spent;
    double const again = 2e-9 * won.conversion + 8 * won.seconds; // until the winner is timed anew
    if (family.size() == 1 || won.seconds == 0 || left <= again || swept_bytes(a, options) > 0) {
        return winner;
    }
    options.multiplies = 4 * left / won.seconds;
    winner.reset(); // it is made again
    winner = fastest(a, family, kernels, options);
    found.insert(found.end(), family.begin() + 1, family.end());
    return winner;
}

} // namespace

template <class T>
struct Plan<T>::State
{
    sparse::Csr<T> sorted;                ///< of a matrix whose rows are not, if multiplies read it
    std::vector<Candidate<T>> candidates; ///< those that were timed have the seconds
    std::unique_ptr<Converted<T> const> matrix;
    bool is_sorted = true; ///< the matrix as it was given
    bool is_alone = false; ///< one thread, where more were asked for
    double seconds = 0;
};

template <class T>
Plan<T>::Plan(sparse::CsrView<T> const& given, PlanOptions const& options)
{
    double const begin = steady_seconds();
    int const threads = threads_of(options);
    check_multiplies(options.multiplies);
    auto const format = format_of<T>(options);
    auto const& kernels = format_kernels<T>(options.kernels);
    auto state = std::make_unique<State>();
    bool const is_sorted = sparse::has_sorted_rows(given);
    if (!is_sorted) {
        state->sorted = sparse::sorted(given);
    }
    sparse::CsrView<T> const a = is_sorted ? given : state->sorted.view();
    auto& found = state->candidates;
    if (a.nonzeros() > 0 && (!format.empty() || options.multiplies >= too_few)) {
        found = candidates(a, row_lengths(a), {threads, options.cold, kernels.name, format});
    } else {
        auto const& plain = format_named<T>(format.empty() ? "csr" : format);
        found.push_back({.format = &plain, .build = {.threads = threads}});
    }
    if (format.empty() && found.front().nanoseconds > 0) {
        keep_to_one_thread_if_small(found, threads);
    }
    if (found.size() > 1 && may_be_timed(a, found, options)) {
        auto const others = keep_best(found, options.multiplies);
        Clock const clock = options.clock == nullptr ? steady_seconds : options.clock;
        double const timed_from = clock();
        state->matrix = fastest(a, found, kernels, options);
        state->matrix = best_of_family(a, std::move(state->matrix), found, others,
                                       clock() - timed_from, kernels, options);
    } else {
        state->matrix = std::make_unique<Converted<T> const>(
            a, best_untimed(found, options.multiplies), kernels);
    }
    state->is_alone = state->matrix->choice.build.threads < threads;
    state->is_sorted = is_sorted;
    if (!state->matrix->reads_given()) {
        state->sorted = {};
    }
    state->seconds = steady_seconds() - begin;
    state_ = std::move(state);
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
    if (x.size() != static_cast<std::size_t>(state_->matrix->columns) ||
        y.size() != static_cast<std::size_t>(state_->matrix->rows)) {
        throw std::invalid_argument{"plan: found x of " + std::to_string(x.size()) + " and y of " +
                                    std::to_string(y.size()) + " elements, expected " +
                                    std::to_string(state_->matrix->columns) + " and " +
                                    std::to_string(state_->matrix->rows)};
    }
    if (base::overlap(x.data(), x.size_bytes(), y.data(), y.size_bytes())) {
        throw std::invalid_argument{"plan: found x and y that overlap, expected them apart"};
    }
    if (x.empty()) { // kernels may point beyond elements that they do not read, but not from null
        std::ranges::fill(y, T{0});
        return;
    }
    state_->matrix->multiply(x.data(), y.data());
}

template <class T>
std::string_view Plan<T>::format() const
{
    return state_->matrix->choice.format->name.name;
}

template <class T>
bool Plan<T>::borrows() const
{
    return state_->is_sorted && state_->matrix->reads_given();
}

template <class T>
int Plan<T>::threads() const
{
    return state_->matrix->choice.build.threads;
}

template <class T>
std::size_t Plan<T>::bytes() const
{
    auto const& [rows, pieces] = std::tie(state_->matrix->matrix, state_->matrix->pieces);
    return rows->bytes() + (pieces ? pieces->bytes() : 0);
}

template <class T>
double Plan<T>::seconds() const
{
    return state_->seconds;
}

template <class T>
std::string Plan<T>::explain() const
{
    auto const& [choice, rows, columns, nonzeros, short_rows, matrix, pieces, long_rows,
                 first_piece] = *state_->matrix;
    auto const& build = choice.build;
    double const count = static_cast<double>(std::max<std::size_t>(1, nonzeros));
    std::string line{choice.format->name.name};
    line += long_rows.empty() ? "" : ", " + std::to_string(long_rows.size()) + " rows in pieces";
    line += "; " + with_tenths(static_cast<double>(bytes()) / count) +
            " bytes per nonzero where CSR has " +
            with_tenths(sizeof(T) + 4 + 4.0 * (rows + 1) / count) + ", " +
            std::to_string(build.threads) + (build.threads == 1 ? " thread" : " threads") +
            (build.shares == 1 ? "" : " of " + std::to_string(build.shares) + " shares each") +
            (state_->is_alone ? " as others would take longer to wake" : "") + ", ready after " +
            rough(1000 * state_->seconds) + " ms; predicted";
    for (auto const& candidate : state_->candidates) {
        line += ' ';
        line += candidate.format->name.name;
        line += ' ' + rough(candidate.nanoseconds / 1000) +
                (candidate.seconds == 0 ? "" : " timed " + rough(1e6 * candidate.seconds)) +
                (&candidate == &state_->candidates.back() ? " us" : ",");
    }
    return line + "; costs " + digest_of(host_costs());
}

template class Plan<float>;
template class Plan<double>;

} // namespace spmv
