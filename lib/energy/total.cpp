#include "energy/counter.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace energy {

std::uint64_t Total::operator()(std::uint64_t reading)
{
    auto const before = last_.value_or(reading);
    auto const step =
        reading >= before ? reading - before : largest_ - before + reading + 1; // it came round
    if (reading > largest_ || step > most_) {
        throw std::runtime_error{fmt::format(
            "the energy counter went from {} to {}: somebody set it back, or it was not "
            "read for too long",
            before, reading)};
    }
    last_ = reading;
    grown_ += step;
    return grown_;
}

} // namespace energy
