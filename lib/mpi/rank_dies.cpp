#include "bench/experiment.hpp"
#include "bench/provenance.hpp"
#include "mpi/ranks.hpp"
#include "mpi/shared_memory.hpp"

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
    mpi::Ranks ranks{argc, argv};
    auto const& world = ranks.world();
    bool const is_last = world.rank() + 1 == world.size();
    std::string way;
    bench::Experiment experiment{"rank-dies", argc, argv, ranks};
    experiment.option("way", &way, "how the last rank fails: throw, kill or not");
    experiment.study("copy").axis("size", {1, 2, 3}).untyped([&](bench::Trial& trial) {
        if (way != "throw" && way != "kill" && way != "not") {
            throw std::invalid_argument{"--way: found '" + way + "', expected throw, kill or not"};
        }
        mpi::SharedArray<double> const held{world, 1}; // nobody waits for others to free it
        auto const x = trial.input<double>(static_cast<std::size_t>(trial.integer("size"))).on();
        auto const output = trial.output<double>(x.size());
        output.expect([=] {
            return bench::Expected{{x.begin(), x.end()}, std::vector<double>(x.size(), 0.0)};
        });
        trial.add("copy", [&] {
            if (is_last && trial.integer("size") == 2 && way != "not") {
                way == "kill" ? static_cast<void>(std::raise(SIGKILL))
                              : throw std::runtime_error{"no such luck"};
            }
            std::ranges::copy(x, output.on().begin());
        });
        trial.run();
    });
    return experiment.run();
}
