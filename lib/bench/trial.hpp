#pragma once

#include "bench/clock.hpp"
#include "bench/fill.hpp"
#include "bench/output.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

/// What one call must do at least: the same for every variant of a trial.
struct Work
{
    double flops = 0;
    double bytes = 0; ///< compulsory traffic: every operand once
    double operations =
        0; ///< what one call repeats (barriers, hand-overs) if its time is of interest
};

/// A higher-precision result and the largest error allowed for each of its elements.
struct Expected
{
    std::vector<double> value;
    std::vector<double> bound; ///< absolute; not used by the exact check
};

/// State of the caches when a timed call begins.
enum class Cache
{
    automatic, ///< cold if the compulsory bytes exceed the last-level cache, else warm
    cold,      ///< flushed before every sample, or rotated over more than the last-level cache
    warm,      ///< the variant ran a few times just before the sample
};

/// What a variant prepares before it can multiply: timed once, reported apart from the samples.
class Setup
{
public:
    /// Keeps a format alive for as long as the variant and adds its `bytes()` to the record.
    template <class Format>
    std::shared_ptr<Format const> keep(Format format)
    {
        stores(format);
        return std::make_shared<Format const>(std::move(format));
    }

    /// Adds the `bytes()` of a format that the variant keeps by itself, or on several processes.
    template <class Format>
    void stores(Format const& format)
    {
        stored_bytes_ += static_cast<double>(format.bytes());
    }

    double stored_bytes() const { return stored_bytes_; }

    /// Records the bytes of a format that the caller keeps and the variant reads as it is, so that
    /// reports can compare them with those of formats of their own.
    template <class Format>
    void reads(Format const& format)
    {
        operand_bytes_ += static_cast<double>(format.bytes());
    }

    double operand_bytes() const { return operand_bytes_; }

    /// Records a count that belongs to the variant and is no time: messages of a partition, replays
    /// of a load that a profiler saw.
    void count(std::string name, double value) { counts_.emplace_back(std::move(name), value); }

    std::vector<std::pair<std::string, double>> const& counts() const { return counts_; }

    /// The variant is not made for these inputs: records it as skipped, with the reason, and leaves
    /// its setup. If one process of a team says so, the variant is skipped in all.
    [[noreturn]] void not_applicable(std::string const& reason) const;
    /// Records a sentence about the variant at this point that no number tells: what it chose, and
    /// why. No path, host or user may stand in it.
    void note(std::string text) { notes_.push_back(std::move(text)); }

    std::vector<std::string> const& notes() const { return notes_; }

private:
    double stored_bytes_ = 0;
    double operand_bytes_ = 0;
    std::vector<std::pair<std::string, double>> counts_;
    std::vector<std::string> notes_;
};

/// How a variant appears in the report.
class Variant
{
public:
    using Call = std::function<void(std::size_t set)>;

    explicit Variant(std::string name) : excerpt_{std::move(name)} {}

    /// Name of the marked source text; the variant's own name unless set.
    Variant& excerpt(std::string name)
    {
        excerpt_ = std::move(name);
        return *this;
    }
    std::string const& excerpt() const { return excerpt_; }

    /// Groups variants in tables and claims ("ladder", "flags", "peer"); "own" unless set.
    Variant& group(std::string name)
    {
        group_ = std::move(name);
        return *this;
    }
    std::string const& group() const { return group_; }

    /// This variant writes something else into the outputs than the others: a probe of what limits
    /// them, which shall be verified like them. `reference` is as in `TrialCore::expect`.
    template <class Reference>
    Variant& expect(Reference reference)
    {
        expected_ = [reference] {
            auto result = reference();
            return Expected{std::move(result.value), std::move(result.bound)};
        };
        return *this;
    }
    std::function<Expected()> const& expected() const { return expected_; }

private:
    std::string excerpt_;
    std::string group_ = "own";
    std::function<Expected()> expected_; ///< empty: that of the trial
};

class Session;
class Contest;

/// Everything of a trial that does not depend on the element type. See `Trial`.
class TrialCore
{
public:
    ~TrialCore();
    TrialCore(TrialCore const&) = delete;
    TrialCore& operator=(TrialCore const&) = delete;

    /// What every variant must do, from here or from a library's type with `flops` and `bytes`.
    void work(Work work);
    template <class Like>
    requires requires(Like const& like) { like.flops, like.bytes; }
    void work(Like const& like) { work(Work{.flops = like.flops, .bytes = like.bytes}); }

    /// Default: `Cache::automatic`.
    void cache(Cache cache);

    /// Computes the expected result from the inputs as they are when it is called. `reference`
    /// returns `Expected`, or a library's type with the same members.
    template <class Reference>
    void expect(Reference reference)
    {
        expect_result([reference] {
            auto result = reference();
            return Expected{std::move(result.value), std::move(result.bound)};
        });
    }

    /// Registers an adapter of something variants write.
    void output(std::unique_ptr<Output> output);

    /// Called after the inputs got new values: upload them, or restore what is derived from them.
    void on_refill(std::function<void()> action);

    /// Called before every call that is checked or timed, outside the timed part: restores operands
    /// that variants change in place.
    void on_reset(std::function<void()> action);

    /// Uses another clock for this trial; the experiment's clock if not called.
    void clock(std::unique_ptr<Clock> clock);

    /// Replaces the host's cache flush, for data that lives elsewhere.
    void flush_with(std::function<void()> flush);

    /// Declares that calls rotate over `count` operand sets: call `i` gets set `i % count`.
    void operand_sets(std::size_t count);

    /// Only the bounded check applies; the reason is recorded ("exp is never exact").
    void inexact(std::string reason);

    /// Records what identifies an input: a digest and its features, shown in reports.
    void dataset(std::string const& name, std::string const& sha256,
                 std::vector<std::pair<std::string, double>> const& features);

    /// Records a variant that cannot run here, with the reason.
    Variant& skip(std::string name, std::string reason);

    /// The point cannot be measured here: records the reason and leaves the body.
    [[noreturn]] void not_applicable(std::string reason);

    /// Adds a variant. `kernel` is called as `kernel()` or `kernel(set)`; or it takes a `Setup&`
    /// and returns such a callable. The reference stays valid as long as the trial.
    template <class Kernel>
    Variant& add(std::string name, Kernel kernel)
    {
        if constexpr (std::is_invocable_v<Kernel&, Setup&>) {
            return add_variant(std::move(name),
                               [kernel](Setup& setup) mutable { return as_call(kernel(setup)); });
        } else {
            return add_variant(std::move(name), [kernel](Setup&) { return as_call(kernel); });
        }
    }

    /// As above for an entry of a table of kernels or libraries: it is skipped if `entry.missing`
    /// says why it cannot run here, else added under `entry.name`.
    template <class Entry, class Kernel>
    requires requires(Entry const& entry) { entry.name, entry.missing.empty(); }
    Variant& add(Entry const& entry, Kernel kernel)
    {
        return entry.missing.empty() ? add(std::string{entry.name}, std::move(kernel))
                                     : skip(std::string{entry.name}, std::string{entry.missing});
    }

    /// Verifies every variant, then times those that passed. Call it last: what the variants
    /// captured must still be alive.
    void run();

    int threads() const;

    /// Whether this process is the only one, or the first of several: what is no matter of threads
    /// need not be measured in each.
    bool is_first_process() const;

    /// Whether only samples are added to an earlier run of the same program: what a variant counts
    /// once need not be counted again.
    bool only_adds_samples() const;

    /// Whether variants that pass this check are timed: in the other, which only asks for equality,
    /// a library need not search for its fastest way.
    bool is_timed() const;

    /// Whether samples begin with empty caches; known once work and cache are declared.
    bool is_cold() const;

protected:
    TrialCore(Session& session, Check check);
    Fill next_fill();

    /// Registers what refills an input; called at once and before each check.
    void input(std::function<void(Fill const&)> refill);

private:
    template <class Kernel>
    static Variant::Call as_call(Kernel kernel)
    {
        if constexpr (std::is_invocable_v<Kernel&, std::size_t>) {
            return kernel;
        } else {
            return [kernel](std::size_t) mutable { kernel(); };
        }
    }

    void expect_result(std::function<Expected()> expected);
    Variant& add_variant(std::string name, std::function<Variant::Call(Setup&)> prepare);

    std::unique_ptr<Contest> contest_;
};

/// One point of an experiment: inputs, outputs, the expected result and the variants to compare.
///
/// The body of an experiment runs twice for each point: once with small integers, where equality is
/// required, and once with random values, where results must lie within `Expected::bound` and the
/// variants that passed both are timed. `T` is the element type: float or double.
template <class T>
class Trial : public TrialCore
{
public:
    Trial(Session& session, Check check) : TrialCore{session, check} {}

    /// Fills operands that stay the same during the trial (matrix values).
    Fill fill() { return next_fill(); }

    /// An operand of `count` elements that gets new values before every check, so that a variant
    /// cannot pass by replaying an earlier result. Owned by the trial, aligned to 64 bytes.
    std::span<T> input(std::size_t count);

    /// As above for `values` that the caller owns, placed where they will be read.
    void input(std::span<T> values);

    /// An array on the host that variants must overwrite completely.
    void output(std::span<T> values);

    using TrialCore::output;
};

} // namespace bench
