#pragma once

#include "bench/pacer.hpp"
#include "bench/processor_time.hpp"
#include "bench/record.hpp"
#include "bench/settings.hpp"
#include "bench/verify.hpp"

#include <map>
#include <regex>
#include <string>

namespace bench {

/// The point that is being measured, and what is known of it so far.
struct PointState
{
    std::size_t index = 0; ///< among the points of all studies
    Plan const* plan = nullptr;
    Coordinates at = {};
    std::map<std::string, Verdict> exact = {};        ///< outcome of the exact check by variant
    std::map<std::string, std::string> unsuited = {}; ///< variants that are not applicable, and why
    PointRecord measured = {};

    /// The point's parameters as they stand in the record.
    Json parameters() const;

    /// "matrix=pois2d precision=fp32"
    std::string label() const;
};

/// One run of an experiment's program: what its trials share.
class Run
{
public:
    Run(std::string const& experiment, Settings chosen, Target& usual);

    /// Points of all studies together.
    std::size_t points() const;

    std::string name; ///< of the experiment
    Settings settings;
    Team& team;
    std::regex filter; ///< of variants' names
    Pacer pacer;
    Record record;
    ProcessorMeter meter; ///< runs in rounds: samples, and what comes before them
    PointState point;
};

} // namespace bench
