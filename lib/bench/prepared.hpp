#pragma once

#include "bench/variant.hpp"
#include "bench/verdict.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench {

/// A variant that was prepared, and what is known about it so far; or a second run of one.
struct Prepared
{
    Variant* variant;
    bool is_cold;
    Verdict verdict;
    bool is_twin = false;
    Variant::Call call = {};
    double setup_seconds = 0;
    std::uint64_t settling = 1; ///< calls before a warm sample
    std::uint64_t iterations = 1;
    std::vector<double> samples = {};
    std::map<std::string, std::vector<double>> rounds = {}; ///< of its counters, one a sample
    std::vector<std::vector<Span>> timelines = {};          ///< one a sample
    std::map<std::string, std::vector<std::size_t>> disturbed = {}; ///< samples, by what did it

    Variant::Facts const& facts() const { return variant->facts(); }

    /// What its calls are timed with.
    Clock& clock() const
    {
        return facts().clock != nullptr ? *facts().clock
                                        : facts().runs->clock(is_cold ? Cache::cold : Cache::warm);
    }
};

} // namespace bench
