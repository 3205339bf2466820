#pragma once

#include "bench/experiment.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// An axis with the values that this run visits.
struct SelectedAxis
{
    std::string name;
    std::vector<Parameter> values;
};

/// Names and values of a point in the order of the axes, the element type last.
using Coordinates = std::vector<std::pair<std::string, Parameter>>;

/// A study with what this run asks of it.
struct Selection
{
    Study const* study;
    std::vector<SelectedAxis> axes; ///< types too, as the axis `precision`

    /// Product of the axes' lengths.
    std::size_t points() const;

    /// The point with this number; the last axis varies fastest.
    Coordinates point(std::size_t index) const;

    /// What measures at a point.
    std::function<void(Trial&)> const& body(Coordinates const& at) const;
};

/// What the command line asked for.
struct Settings
{
    std::string profile = "quick";
    std::size_t rounds = 0;
    double min_time_s = 0;
    std::uint64_t seed = 1;
    int threads = 1;
    std::string filter;
    std::string output;
    bool list = false;
    std::string events; ///< the socket of the runner; empty: there is none
    bool later = false; ///< of several processes, it is not the first
    bool again = false; ///< only samples for an earlier run, which made the exact check
    std::string points; ///< a file that lists those to measure; empty: all
    std::vector<Selection> selections;
    std::vector<std::string> arguments; ///< as recorded: no directories, nothing of the protocol
};

/// Reads the command line of an experiment. Returns an exit code instead where the program has
/// nothing more to do, after `--help`. Throws std::invalid_argument with one line for a user's
/// error.
std::variant<Settings, int> read_settings(std::string const& experiment, int argc, char** argv,
                                          std::deque<Study> const& studies,
                                          std::vector<Option> const& options,
                                          Sampling const& sampling);

/// How a value is written in labels and records: a path becomes the name of its file.
Parameter displayed(Parameter const& value);

/// `displayed` as text.
std::string to_text(Parameter const& value);

} // namespace bench
