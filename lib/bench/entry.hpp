#pragma once

#include "bench/trial.hpp"
#include "bench/verify.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench {

/// A variant that was prepared, and what is known about it so far; or a second run of one.
struct Trial::Entry
{
    Variant* variant;
    bool is_twin = false;
    Variant::Call call = {};
    bool is_cold = false;
    double setup_seconds = 0;
    Verdict verdict = {};
    std::uint64_t settling = 1; ///< calls before a warm sample
    std::uint64_t iterations = 1;
    std::vector<double> samples = {};
    std::map<std::string, std::vector<double>> rounds = {}; ///< of its counters, one a sample
    std::vector<std::vector<Span>> timelines = {};          ///< one a sample
};

} // namespace bench
