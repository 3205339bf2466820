#pragma once

#include "bench/team.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>

namespace bench {

/// Tells what the program does, and waits for its turn where several processes take turns.
///
/// With events, rank 0 prints one JSON object a line on standard output; in lockstep it then waits
/// for a line on standard input. Without events it prints plain lines on standard error.
class Pacer
{
public:
    Pacer(bool events, bool lockstep, Team& team)
        : events_{events}, lockstep_{lockstep}, team_{team}
    {
    }

    void plan(std::size_t points, std::size_t rounds);
    void point(std::size_t index, std::size_t points, std::string const& label);
    void done(std::string const& output);

    /// Before work that no other process may disturb. Throws std::runtime_error if the runner is
    /// gone.
    void turn(std::string const& phase);

private:
    /// An event, or in its place what a person reads.
    void tell(nlohmann::ordered_json const& event, std::string const& line) const;

    bool events_;
    bool lockstep_;
    Team& team_;
    std::size_t point_ = 0;
};

} // namespace bench
