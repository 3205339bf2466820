#pragma once

#include "bench/random.hpp"
#include "bench/session.hpp"
#include "bench/trial.hpp"
#include "bench/verify.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// A variant as the experiment declared it.
struct Declared
{
    Variant variant;
    std::string name;
    std::function<Variant::Call(Setup&)> prepare; ///< empty if it cannot run here
    std::string missing;                          ///< why not
};

/// A variant that was prepared, and what is known about it so far.
struct Contender
{
    std::string name;
    std::string group;
    std::string excerpt;
    bool twin = false;
    Variant::Call call;
    double setup_seconds = 0;
    Setup setup;
    Verdict verdict;
    std::size_t iterations = 1;
    std::vector<double> samples;
};

/// Verifies and times the variants of one trial. What a trial declares is public; `run` does the
/// work and leaves it in the session's record.
class Contest
{
public:
    Contest(Session& owner, Check kind);

    /// Seeded values for the next operand or the next call.
    Fill next_fill() { return {check, random_.next()}; }

    /// Takes a variant, unless `--filter` leaves it out. Names are unique.
    Variant& declare(Declared declared);

    void run();

    Session& session;
    Check check;
    Work work;
    Cache cache = Cache::automatic;
    std::function<Expected()> expected;
    std::vector<std::unique_ptr<Output>> outputs;
    std::vector<std::function<void(Fill const&)>> inputs;
    std::function<void()> on_refill;
    std::function<void()> on_reset;
    std::function<void()> flush;
    std::unique_ptr<Clock> clock;
    std::size_t sets = 1;
    std::string inexact;

    /// Whether samples begin with empty caches.
    bool is_cold() const;

private:
    Clock& timer() { return clock ? *clock : *session.clock; }
    void require_complete() const;
    void list() const;
    void record_skipped();
    bool takes_part(Declared const& declared) const;

    std::vector<Contender> prepare_all();
    Contender prepare(Declared const& declared);
    void guarded(Contender& contender, std::string const& when,
                 std::function<void()> const& action);

    void refill();
    void reset();
    void poison();
    void call_every_set(Contender& contender);
    void verify(std::vector<Contender>& contenders);
    void check_results(Contender& contender, std::string const& when);
    void check_exactly();

    void check_within_bounds_and_time();
    void add_twins(std::vector<Contender>& contenders);
    std::uint64_t round_trips(Contender& contender, std::uint64_t tried);
    void choose_iterations(Contender& contender);
    void time_rounds(std::vector<Contender>& contenders);
    void restore_caches(Contender& contender);
    double sample(Contender& contender);
    void record_case(Contender const& contender);

    std::deque<Declared> variants_;
    std::deque<Declared> left_out_;
    Random random_;
    bool cold_ = false;
    Expected wanted_;
    std::map<std::string, Expected> own_wanted_; ///< of variants with an expectation of their own
    std::vector<double> actual_;                 ///< of the last check, for its memory
    std::vector<double> part_;                   ///< likewise
};

} // namespace bench
