#pragma once

#include "base/random.hpp"
#include "base/work.hpp"
#include "bench/variant.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

using base::Work;

class Verification;
struct Prepared;
struct Run;

/// One point of a study: inputs, outputs, the work to do, and the variants to compare.
///
/// The body of a study runs twice for each point: once with small integers, where equality is
/// required, and once with random values, where results must lie within the bound that is expected
/// and the variants that passed both are timed, in turns.
class Trial : public Declared
{
public:
    Trial(Run& run, Check check);
    Trial(Trial const&) = delete;
    Trial& operator=(Trial const&) = delete;

    /// Where this trial stands on an axis; throws std::logic_error if the study has none such.
    std::string const& text(std::string const& axis) const { return at<std::string>(axis); }
    std::int64_t integer(std::string const& axis) const { return at<std::int64_t>(axis); }
    double real(std::string const& axis) const { return at<double>(axis); }

    int threads() const;

    /// Whether this run only tests the program (profile tiny): its data may be small.
    bool is_test() const;

    /// Whether only samples are added to an earlier run of the same program: what a variant counts
    /// once need not be counted again.
    bool only_adds_samples() const;

    /// Whether variants that pass this check are timed: in the other, which only asks for equality,
    /// a library need not search for its fastest way.
    bool is_timed() const { return check_ == Check::bounded; }

    /// Whether samples of what runs there, or where the study does, begin with empty caches; known
    /// once work and cache are declared.
    bool is_cold() const;
    bool is_cold(Target& where) const;

    /// What every variant must do.
    void work(Work work) { work_ = work; }

    /// Default: `Cache::automatic`. For what runs there, or everywhere.
    void cache(Cache cache) { cache_ = cache; }
    void cache(Cache cache, Target& where) { cache_there_[&where] = cache; }

    /// Only the bounded check applies; the reason is recorded ("exp is never exact").
    void inexact(std::string reason) { inexact_ = std::move(reason); }

    /// Records what identifies an input: a digest and its features, shown in reports.
    void dataset(std::string const& name, std::string const& sha256,
                 std::vector<std::pair<std::string, double>> const& features);

    /// Fills operands that stay the same during the trial (matrix values).
    Fill fill() { return {check_, random_.next()}; }

    /// An operand that variants read, of `count` elements.
    template <Element T>
    Input<T> input(std::size_t count)
    {
        return Input<T>{add_input(element_type<T>(), count, nullptr)};
    }

    /// As above for memory of the host that the caller owns, placed where it will be read.
    template <Element T>
    Input<T> input(std::span<T> values)
    {
        return Input<T>{add_input(element_type<T>(), values.size(), values.data())};
    }

    /// Adds a variant. `kernel` is called as `kernel()`, on the host or to put work into a target's
    /// queue; or it is a setup, which takes a `Variant&` and returns such a callable. The reference
    /// stays valid as long as the trial.
    template <class Kernel>
    Variant& add(std::string const& name, Kernel kernel)
    {
        if constexpr (std::is_invocable_v<Kernel&, Variant&>) {
            return declare(name, kernel, "");
        } else {
            return declare(
                name, [kernel](Variant&) { return kernel; }, "");
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

    /// Records a variant that cannot run here, with the reason.
    Variant& skip(std::string const& name, std::string reason)
    {
        return declare(name, nullptr, std::move(reason));
    }

    /// Verifies every variant, then times those that passed. Call it last: what the variants
    /// captured must still be alive.
    void run();

private:
    /// The value of a parameter; `T` is one of the three types above.
    template <class T>
    T const& at(std::string const& axis) const;

    Target& usual() const;
    Operand& add_input(ElementType const& type, std::size_t count, void* values);

    /// Takes a variant, unless `--filter` leaves it out. Names are unique. `setup` is empty if it
    /// cannot run here; `missing` says why.
    Variant& declare(std::string const& name, Variant::Setup setup, std::string missing);

    void require_complete();
    void list() const;
    std::string why_not(Variant const& variant) const;
    Prepared prepare(Variant& variant, Verification const& verification);
    std::vector<Prepared> prepare_all(Verification const& verification);
    void check_exactly();
    void check_within_bounds_and_time();

    Run& run_;
    Check check_;
    base::Random random_;
    Work work_;
    Cache cache_ = Cache::automatic;
    std::map<Target*, Cache> cache_there_;
    std::deque<Operand> inputs_;
    std::string inexact_;
    std::deque<Variant> variants_;
    std::deque<Variant> left_out_;
    std::set<std::string> names_; ///< of both
};

} // namespace bench
