#pragma once

#include <cstdint>
#include <span>

namespace bench {

/// Which of the two verifications the values are made for.
enum class Check
{
    exact, ///< non-zero integers of magnitude 1 to 3: sums are representable, equality is required
    bounded, ///< reals of magnitude 1/16 to 1: compared within a rounding bound
};

/// Fills arrays with reproducible values for one verification. Copyable; a seed gives the same
/// values on every machine.
class Fill
{
public:
    Fill(Check check, std::uint64_t seed) : check_{check}, seed_{seed} {}

    /// Overwrites every element of `values`. `T` is an `Element`. Integers are of magnitude 1 to 3
    /// in the exact check and to 1000, or 250 in a byte, in the other; bytes have no sign.
    template <class T>
    void operator()(std::span<T> values) const;

    Check check() const { return check_; }

private:
    Check check_;
    std::uint64_t seed_;
};

} // namespace bench
