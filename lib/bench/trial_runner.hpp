#pragma once

#include "bench/random.hpp"
#include "bench/run.hpp"
#include "bench/trial.hpp"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// A variant that was prepared, and what is known about it so far; or a second run of one.
struct Entry
{
    Variant* variant;
    bool is_twin = false;
    Variant::Call call = {};
    bool is_cold = false;
    double setup_seconds = 0;
    Verdict verdict = {};
    std::size_t iterations = 1;
    std::vector<double> samples = {};
    std::map<std::string, std::vector<double>> rounds = {}; ///< of its counters, one a sample
    std::vector<std::vector<Span>> timelines = {};          ///< one a sample
};

/// Verifies and times the variants of one trial. What a trial declares is public; `run` does the
/// work and leaves it in the record of the point.
class TrialRunner
{
public:
    TrialRunner(Run& of, Check kind);

    /// Seeded values for the next operand or the next call.
    Fill next_fill() { return {check, random_.next()}; }

    /// Takes a variant, unless `--filter` leaves it out. Names are unique. `setup` is empty if it
    /// cannot run here; `missing` says why.
    Variant& declare(std::string name, std::function<Variant::Call(Variant&)> setup,
                     std::string missing);

    /// Whether samples of what runs there begin with empty caches.
    bool is_cold(Target& where) const;

    Target& usual() const { return run_of.point.plan->study->usual(); }

    void run();

    Run& run_of;
    Check check;
    Work work;
    Cache cache = Cache::automatic;
    std::map<Target*, Cache> cache_there;
    std::deque<Operand> inputs;
    std::deque<Operand> outputs;
    std::function<void()> on_refill;
    std::function<void()> on_reset;
    std::string inexact;

private:
    void require_complete() const;
    void list() const;
    void record_skipped();
    std::string why_not(Variant const& variant) const;

    std::vector<Entry> prepare_all();
    Entry prepare(Variant& variant);
    void guarded(Entry& entry, std::string const& when, std::function<void()> const& action);
    static Clock& clock_of(Entry const& entry);

    void refill();
    void reset(Entry const& entry) const;
    void poison();
    void finish_all() const;
    void verify(std::vector<Entry>& entries);
    void check_results(Entry& entry, std::string const& when);
    void check_exactly();

    void check_within_bounds_and_time();
    void add_twins(std::vector<Entry>& entries);
    std::uint64_t calls_for_a_sample(Entry& entry, std::uint64_t tried);
    void choose_iterations(Entry& entry);
    void time_rounds(std::vector<Entry>& entries);
    void restore_caches(Entry& entry);
    void take_sample(Entry& entry);
    void record_case(Entry const& entry);

    std::deque<Variant> variants_;
    std::deque<Variant> left_out_;
    std::vector<Target*> targets_; ///< of the variants that take part
    Random random_;
    std::vector<Expected> wanted_; ///< of the outputs whose expectation is given as a whole
};

} // namespace bench
