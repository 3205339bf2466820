#include "bench/run.hpp"

#include "base/printable.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>

namespace bench {

void Pacer::tell(nlohmann::ordered_json const& event, std::string const& line) const
{
    if (runner_) {
        runner_->tell(event.dump());
    } else if (team_.rank() == 0) {
        std::fputs(line.c_str(), stderr);
    }
}

void Pacer::begin(std::size_t points, std::size_t rounds)
{
    tell({{"event", "plan"}, {"points", points}, {"rounds", rounds}}, "");
}

void Pacer::point(std::size_t index, std::size_t points, std::string const& label)
{
    point_ = index;
    tell({{"event", "point"}, {"point", index}, {"points", points}, {"label", label}},
         fmt::format("[{}/{}] {}\n", index + 1, points, label));
}

void Pacer::done(std::string const& output)
{
    // A folder may be named by bytes that no JSON holds.
    auto const shown = base::printable(output);
    tell({{"event", "done"}, {"output", shown}}, fmt::format("wrote {}\n", shown));
}

void Pacer::turn(std::string const& phase)
{
    tell({{"event", "turn"}, {"phase", phase}, {"point", point_}}, "");
    if (!team_.all(!runner_ || runner_->grants())) {
        throw std::runtime_error{"the runner went away"};
    }
}

} // namespace bench
