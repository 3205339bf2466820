#include "mpi/ranks.hpp"

#include "bench/experiment.hpp"
#include "bench/provenance.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::array<bench::Excerpt, 1> excerpts{{{"sleep", "lib/mpi/team_test.cpp", "sleep\n"}}};
constexpr auto unit = std::chrono::milliseconds{5};

int failures = 0;

void expect(bool holds, char const* what)
{
    if (!holds) {
        std::fprintf(stderr, "team_test: not so: %s\n", what);
        ++failures;
    }
}

/// The team's decisions and reductions, as every rank sees them.
void test_team(mpi::Team& team)
{
    auto const rank = static_cast<std::uint64_t>(team.rank());
    expect(team.from_root(rank + 7) == 7, "from_root gives rank 0's value");
    expect(team.all(true), "all of true");
    expect(!team.all(team.rank() != 0), "all, one false");
    expect(team.maximum(team.rank()) == team.size() - 1, "maximum of the ranks");
}

/// A rank that sleeps longer decides the time of all.
void test_clock(mpi::Team& team)
{
    mpi::MaxClock clock;
    auto const skewed = unit * (1 + team.rank());
    auto const seconds = clock.seconds([&] { std::this_thread::sleep_for(skewed); });
    expect(seconds >= std::chrono::duration<double>(unit * team.size()).count(),
           "the slowest rank counts");
    expect(team.maximum(seconds) == seconds, "all ranks get the same time");
    expect(clock.name() == "max-over-ranks(host)", "the name of the decorated clock");
}

/// A whole experiment: rank 0 writes the only result; a variant wrong on one rank fails on all.
void test_experiment(int argc, char** argv, mpi::Ranks& ranks)
{
    int const rank = ranks.world().rank();
    int const size = ranks.world().size();
    bench::Experiment experiment{"ranks", argc, argv, ranks};
    experiment.study("copy").untyped([&](bench::Trial& trial) {
        auto const x = trial.input<double>(8).on();
        std::vector<double> y(8);
        trial.output(std::span{y}).expect([&] {
            return bench::Expected{{x.begin(), x.end()}, std::vector<double>(x.size(), 0.0)};
        });
        trial
            .add("skewed",
                 [&] {
                     std::this_thread::sleep_for(unit * rank);
                     y.assign(x.begin(), x.end());
                 })
            .excerpt("sleep");
        trial
            .add("wrong_on_last",
                 [&] {
                     y.assign(x.begin(), x.end());
                     y[3] += rank == size - 1 ? 1 : 0;
                 })
            .excerpt("sleep");
        auto const not_on_last = [&](bench::Variant& variant) {
            if (rank == size - 1) {
                variant.not_applicable("not here");
            }
            return [&] { y.assign(x.begin(), x.end()); };
        };
        trial.add("not_on_last", not_on_last).excerpt("sleep");
        trial.run();
    });
    expect(experiment.run() == 1, "a failed variant is reported on every rank");
}

void test_result(std::string const& file, int size)
{
    auto const result = nlohmann::json::parse(std::ifstream{file});
    expect(result.at("launches").at(0).at("ranks") == size, "the result holds the ranks");
    expect(result.at("launches").at(0).at("hosts") == 1, "the result holds the hosts");
    expect(result.at("skipped").at(0).at("reason") == "not applicable on another rank",
           "a variant unsuited on one rank is skipped on all");
    for (auto const& one : result.at("cases")) {
        bool const sound = one.at("variant") == "skewed";
        expect(one.at("verdict").at("status") == (sound ? "passed" : "failed"),
               "one wrong rank fails a variant");
        expect(one.at("clock") == "max-over-ranks(host)", "the clock is recorded");
        expect(one.at("target") == "ranks", "the target is recorded");
        for (auto const& sample : one.at("samples_s")) {
            expect(sample >= std::chrono::duration<double>(unit * (size - 1)).count(),
                   "samples are those of the slowest rank");
        }
    }
}

} // namespace

bench::Provenance const& bench::provenance()
{
    static Provenance const built{"unknown", false, "test", "release", excerpts, {}};
    return built;
}

/// Run with two or more ranks; the first argument names a folder for the result.
int main(int argc, char** argv)
{
    mpi::Ranks ranks{argc, argv};
    mpi::Team team;
    auto file = std::string{argv[1]} + "/ranks.json";
    std::vector<std::string> words{"ranks", "--profile", "tiny", "--threads",
                                   "1",     "--output",  file};
    std::vector<char*> arguments;
    for (auto& word : words) {
        arguments.push_back(word.data());
    }
    test_team(team);
    test_clock(team);
    test_experiment(static_cast<int>(arguments.size()), arguments.data(), ranks);
    if (team.rank() == 0) {
        test_result(file, team.size());
    }
    return team.all(failures == 0) ? 0 : 1;
}
