#pragma once

#include "base/not_applicable.hpp"
#include "bench/operand.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench {

using base::NotApplicable;

/// Something that a variant did, seen from inside: a named span of time on a lane, such as a copy
/// on an engine. Seconds count from the beginning of the timed call.
struct Span
{
    std::string lane;
    std::string name;
    double begin_s;
    double end_s;
};

/// What a trial declares for all its variants, or a variant for itself.
class Declared
{
public:
    /// An operand that must be overwritten, of `count` elements. It needs an expectation. What a
    /// variant has of its own, said in its setup, takes the place of the trial's: what it writes
    /// there is checked, and nothing else.
    template <Element T>
    Output<T> output(std::size_t count)
    {
        return Output<T>{outputs_.emplace_back(element_type<T>(), count, true)};
    }

    /// As above in memory of `where` that the caller owns, and where it is checked.
    template <Element T>
    Output<T> output(std::span<T> values, Target& where = host())
    {
        auto& operand = outputs_.emplace_back(element_type<T>(), values.size(), true);
        operand.adopt(where, reinterpret_cast<std::byte*>(values.data()));
        return Output<T>{operand};
    }

    /// Called after the inputs got new values: restores what is derived from them.
    void on_refill(std::function<void()> action) { on_refill_ = std::move(action); }

    /// Called before every call that is checked or timed, outside the timed part: restores operands
    /// that are changed in place. One call then makes a sample.
    void on_reset(std::function<void()> action) { on_reset_ = std::move(action); }

    /// The point cannot be measured here, or the variant is not made for it: records the reason and
    /// leaves the body or the setup, as any `base::NotApplicable` does. If one process of a team
    /// says so of a variant, that is skipped in all.
    [[noreturn]] void not_applicable(std::string const& reason) const
    {
        throw NotApplicable{reason};
    }

    // --- what the harness asks ---

    /// The operands that must be overwritten.
    std::deque<Operand>& outputs() { return outputs_; }

    /// Does what `on_refill` says, if that was said.
    void refilled() const
    {
        if (on_refill_) {
            on_refill_();
        }
    }

    /// Does what `on_reset` says, if that was said.
    void reset() const
    {
        if (on_reset_) {
            on_reset_();
        }
    }

    /// Whether operands are changed in place, so that one call makes a sample.
    bool has_reset() const { return bool{on_reset_}; }

    /// Forgets all that was declared: what a setup made or asked to be called may be gone.
    void withdraw()
    {
        outputs_.clear();
        on_refill_ = nullptr;
        on_reset_ = nullptr;
    }

private:
    std::deque<Operand> outputs_;
    std::function<void()> on_refill_;
    std::function<void()> on_reset_;
};

/// One contender of a trial: where it runs, how it appears in reports, and what it says about
/// itself. Made by `Trial::add`.
class Variant : public Declared
{
public:
    using Call = std::function<void()>;
    using Setup = std::function<Call(Variant&)>;

    /// What a variant is and has said of itself so far.
    struct Facts
    {
        std::string name;
        std::string excerpt; ///< name of its marked source text
        Target* runs;
        Target* results;
        std::string group = "own";
        Clock* clock = nullptr; ///< of its own; null: that of its target
        double stored_bytes = 0;
        double operand_bytes = 0;
        std::vector<std::pair<std::string, double>> counts = {};
        std::vector<std::pair<std::string, std::function<double(std::uint64_t)>>> counters = {};
        std::function<std::vector<Span>()> timeline = {};
        std::vector<std::string> notes = {};
    };

    /// `setup` is empty if it cannot run here; `missing` says why.
    Variant(std::string const& name, Target& usual, Setup setup, std::string missing)
        : facts_{name, name, &usual, &usual}, setup_{std::move(setup)}, missing_{std::move(missing)}
    {
    }
    Variant(Variant const&) = delete;
    Variant& operator=(Variant const&) = delete;

    // --- what it is, said after `Trial::add` ---

    /// Where it runs and leaves its results, if not where the study does.
    Variant& on(Target& runs) { return on(runs, runs); }

    /// Where it runs, and the target whose copy of the outputs is checked.
    Variant& on(Target& runs, Target& results)
    {
        facts_.runs = &runs;
        facts_.results = &results;
        return *this;
    }

    /// A clock of its own in place of its target's; it must outlive the trial. May also be said in
    /// the setup.
    Variant& clock(Clock& clock)
    {
        facts_.clock = &clock;
        return *this;
    }

    /// Name of the marked source text; the variant's own name unless set.
    Variant& excerpt(std::string name)
    {
        facts_.excerpt = std::move(name);
        return *this;
    }

    /// Groups variants in tables and claims ("ladder", "flags", "peer"); "own" unless set.
    Variant& group(std::string name)
    {
        facts_.group = std::move(name);
        return *this;
    }

    // --- what it prepares, said in its setup, which is timed once, apart from the samples ---

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
        facts_.stored_bytes += static_cast<double>(format.bytes());
    }

    /// Records the bytes of a format that the caller keeps and the variant reads as it is, so that
    /// reports can compare them with those of formats of their own.
    template <class Format>
    void reads(Format const& format)
    {
        facts_.operand_bytes += static_cast<double>(format.bytes());
    }

    /// Records a number that belongs to the variant and is no time: messages of a partition.
    void count(std::string name, double value)
    {
        facts_.counts.emplace_back(std::move(name), value);
    }

    /// Records a number for each sample: `read` is called behind it.
    void count(std::string name, std::function<double()> read)
    {
        count(std::move(name), [read = std::move(read)](std::uint64_t) { return read(); });
    }

    /// As above of what all calls of a sample did together, such as joules: `read` is told how many
    /// there were.
    void count(std::string name, std::function<double(std::uint64_t calls)> read)
    {
        facts_.counters.emplace_back(std::move(name), std::move(read));
    }

    /// Records what the sample with the median time did: `read` is called behind each.
    void timeline(std::function<std::vector<Span>()> read) { facts_.timeline = std::move(read); }

    /// Records a sentence about the variant at this point that no number tells: what it chose, and
    /// why. No path, host or user may stand in it.
    void note(std::string text) { facts_.notes.push_back(std::move(text)); }

    // --- what the harness asks ---

    Facts const& facts() const { return facts_; }

    /// Why it cannot run here; empty if it can.
    std::string const& missing() const { return missing_; }
    bool is_missing() const { return !setup_; }

    /// Runs its setup: what is called from then on.
    Call set_up() { return setup_(*this); }

private:
    Facts facts_;
    Setup setup_;
    std::string missing_;
};

} // namespace bench
