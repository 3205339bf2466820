#pragma once

#include "bench/disturbance.hpp"
#include "bench/processor_time.hpp"
#include "bench/record.hpp"
#include "bench/runner.hpp"
#include "bench/settings.hpp"
#include "bench/verdict.hpp"

#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>

namespace bench {

/// The point that is being measured, and what is known of it so far.
struct PointState
{
    std::size_t index = 0; ///< among the points of all studies
    Selection const* selection = nullptr;
    Coordinates at = {};
    std::map<std::string, Verdict> exact = {};        ///< outcome of the exact check by variant
    std::map<std::string, std::string> unsuited = {}; ///< variants that are not applicable, and why
    Json measured = {{"cases", Json::array()},
                     {"skipped", Json::array()},
                     {"datasets", Json::object()},
                     {"excerpts", Json::object()}};

    /// The point's parameters as they stand in the record.
    Json parameters() const
    {
        Json parameters = Json::object();
        for (auto const& [axis, value] : at) {
            std::visit([&, name = axis](auto const& v) { parameters[name] = v; }, displayed(value));
        }
        return parameters;
    }

    /// "matrix=pois2d precision=fp32"
    std::string label() const
    {
        std::string text;
        for (auto const& [axis, value] : at) {
            text += (text.empty() ? "" : " ") + axis + "=" + to_text(value);
        }
        return text;
    }
};

/// Tells what the program does, and waits for its turn where several processes take turns.
///
/// Rank 0 tells the runner one JSON object a line and waits for a line of it before each turn;
/// without a runner it prints plain lines on standard error.
class Pacer
{
public:
    /// `runner` is the path of the socket that it listens on; empty: there is none.
    Pacer(std::string const& runner, Team& team) : team_{team}
    {
        if (!runner.empty() && team.rank() == 0) {
            runner_.emplace(runner);
        }
    }

    void begin(std::size_t points, std::size_t rounds);
    void point(std::size_t index, std::size_t points, std::string const& label);
    void done(std::string const& output);

    /// Before work that no other process may disturb. Throws std::runtime_error if the runner is
    /// gone.
    void turn(std::string const& phase);

private:
    /// An event, or in its place what a person reads.
    void tell(nlohmann::ordered_json const& event, std::string const& line) const;

    std::optional<Runner> runner_;
    Team& team_;
    std::size_t point_ = 0;
};

/// One run of an experiment's program: what its trials share.
struct Run
{
    std::string name; ///< of the experiment
    Settings settings;
    Team& team;
    std::regex filter; ///< of variants' names
    Pacer pacer;
    Record record;
    std::size_t points;        ///< of all studies together
    std::size_t pairs;         ///< A/A pairs of all of them, at least
    ProcessorMeter meter = {}; ///< runs in rounds: samples, and what comes before them
    std::shared_ptr<Witness> witness = system_witness();
    PointState point = {};
};

} // namespace bench
