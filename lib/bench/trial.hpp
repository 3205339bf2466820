#pragma once

#include "base/work.hpp"
#include "bench/variant.hpp"

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

using base::Work;

/// One point of a study: inputs, outputs, the work to do, and the variants to compare.
///
/// The body of a study runs twice for each point: once with small integers, where equality is
/// required, and once with random values, where results must lie within the bound that is expected
/// and the variants that passed both are timed, in turns.
class Trial
{
public:
    explicit Trial(std::unique_ptr<TrialRunner> runner);
    ~Trial();
    Trial(Trial const&) = delete;
    Trial& operator=(Trial const&) = delete;

    /// Where this trial stands on an axis; throws std::logic_error if the study has none such.
    std::string const& text(std::string const& axis) const;
    std::int64_t integer(std::string const& axis) const;
    double real(std::string const& axis) const;

    int threads() const;

    /// Whether only samples are added to an earlier run of the same program: what a variant counts
    /// once need not be counted again.
    bool only_adds_samples() const;

    /// Whether variants that pass this check are timed: in the other, which only asks for equality,
    /// a library need not search for its fastest way.
    bool is_timed() const;

    /// Whether samples of what runs there, or where the study does, begin with empty caches; known
    /// once work and cache are declared.
    bool is_cold() const;
    bool is_cold(Target& where) const;

    /// What every variant must do.
    void work(Work work);

    /// Default: `Cache::automatic`. For what runs there, or everywhere.
    void cache(Cache cache);
    void cache(Cache cache, Target& where);

    /// Only the bounded check applies; the reason is recorded ("exp is never exact").
    void inexact(std::string reason);

    /// Records what identifies an input: a digest and its features, shown in reports.
    void dataset(std::string const& name, std::string const& sha256,
                 std::vector<std::pair<std::string, double>> const& features);

    /// Fills operands that stay the same during the trial (matrix values).
    Fill fill();

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

    /// An operand that variants write, of `count` elements. It needs an expectation.
    template <Element T>
    Output<T> output(std::size_t count)
    {
        return Output<T>{add_output(element_type<T>(), count)};
    }

    /// As above in memory of `where` that the caller owns, and where it is checked.
    template <Element T>
    Output<T> output(std::span<T> values, Target& where = host())
    {
        auto& operand = add_output(element_type<T>(), values.size());
        operand.adopt(where, reinterpret_cast<std::byte*>(values.data()));
        return Output<T>{operand};
    }

    /// Called after the inputs got new values: restores what is derived from them.
    void on_refill(std::function<void()> action);

    /// Called before every call that is checked or timed, outside the timed part: restores operands
    /// that variants change in place. One call then makes a sample.
    void on_reset(std::function<void()> action);

    /// Adds a variant. `kernel` is called as `kernel()`, on the host or to put work into a target's
    /// queue; or it is a setup, which takes a `Variant&` and returns such a callable. The reference
    /// stays valid as long as the trial.
    template <class Kernel>
    Variant& add(std::string name, Kernel kernel)
    {
        if constexpr (std::is_invocable_v<Kernel&, Variant&>) {
            return add_variant(std::move(name), [kernel](Variant& variant) mutable {
                return Variant::Call{kernel(variant)};
            });
        } else {
            return add_variant(std::move(name),
                               [kernel](Variant&) { return Variant::Call{kernel}; });
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
    Variant& skip(std::string name, std::string reason);

    /// The point cannot be measured here: records the reason and leaves the body, as any
    /// `base::NotApplicable` does.
    [[noreturn]] void not_applicable(std::string const& reason) const;

    /// Verifies every variant, then times those that passed. Call it last: what the variants
    /// captured must still be alive.
    void run();

private:
    Operand& add_input(ElementType const& type, std::size_t count, void* values);
    Operand& add_output(ElementType const& type, std::size_t count);
    Variant& add_variant(std::string name, std::function<Variant::Call(Variant&)> setup);

    std::unique_ptr<TrialRunner> runner_;
};

} // namespace bench
