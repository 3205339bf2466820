#include "bench/experiment.hpp"
#include "bench/provenance.hpp"
#include "mpi/shared_array.hpp"
#include "mpi/team.hpp"

#include <array>
#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::array<bench::Excerpt, 1> excerpts{{{"copy", "lib/mpi/rank_dies.cpp", "copy\n"}}};

} // namespace

bench::Provenance const& bench::provenance()
{
    static Provenance const built{"unknown", false, "test", "release", excerpts, {}};
    return built;
}

/// An experiment of three points for `rank_dies_test.py`: at the second one the last rank throws or
/// is killed, as `--way` says.
int main(int argc, char** argv)
{
    mpi::Environment const environment{argc, argv};
    mpi::Communicator const world;
    auto team = std::make_unique<mpi::Team>();
    bool const is_last = team->rank() + 1 == team->size();
    std::string way;
    bench::Experiment experiment{"rank-dies", argc, argv, std::move(team)};
    experiment.clock(std::make_unique<mpi::MaxClock>(std::make_unique<bench::HostClock>()));
    experiment.axis("size", {1, 2, 3});
    experiment.option("way", way, "how the last rank fails: throw, kill or not");
    return experiment.each<double>([&](bench::Point const& at, bench::Trial<double>& trial) {
        if (way != "throw" && way != "kill" && way != "not") {
            throw std::invalid_argument{"--way: found '" + way + "', expected throw, kill or not"};
        }
        mpi::SharedArray<double> const held{world, 1}; // nobody waits for others to free it
        auto const x = trial.input(static_cast<std::size_t>(at.integer("size")));
        std::vector<double> y(x.size());
        trial.output(y);
        trial.expect([&] {
            return bench::Expected{{x.begin(), x.end()}, std::vector<double>(x.size(), 0.0)};
        });
        trial.add("copy", [&] {
            if (is_last && at.integer("size") == 2 && way != "not") {
                way == "kill" ? static_cast<void>(std::raise(SIGKILL))
                              : throw std::runtime_error{"no such luck"};
            }
            y.assign(x.begin(), x.end());
        });
        trial.run();
    });
}
