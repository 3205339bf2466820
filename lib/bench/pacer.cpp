#include "bench/pacer.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <iostream>
#include <stdexcept>

namespace bench {

namespace {

void emit(nlohmann::ordered_json const& event)
{
    fmt::print("{}\n", event.dump());
    std::fflush(stdout);
}

} // namespace

void Pacer::plan(std::size_t points, std::size_t rounds)
{
    if (events_ && speaks()) {
        emit({{"event", "plan"}, {"points", points}, {"rounds", rounds}});
    }
}

void Pacer::point(std::size_t index, std::size_t points, std::string const& label)
{
    point_ = index;
    if (!speaks()) {
        return;
    }
    if (events_) {
        emit({{"event", "point"}, {"point", index}, {"points", points}, {"label", label}});
    } else {
        fmt::print(stderr, "[{}/{}] {}\n", index + 1, points, label);
    }
}

void Pacer::done(std::string const& output)
{
    if (!speaks()) {
        return;
    }
    if (events_) {
        emit({{"event", "done"}, {"output", output}});
    } else {
        fmt::print(stderr, "wrote {}\n", output);
    }
}

void Pacer::turn(std::string const& phase)
{
    bool granted = true;
    if (events_ && speaks()) {
        emit({{"event", "turn"}, {"phase", phase}, {"point", point_}});
        if (lockstep_) {
            std::string line;
            granted = static_cast<bool>(std::getline(std::cin, line));
        }
    }
    if (!team_.all(granted)) {
        throw std::runtime_error{"the runner went away (end of standard input)"};
    }
}

} // namespace bench
