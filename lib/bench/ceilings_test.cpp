#include "bench/experiment_test.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

namespace {

using bench::testing::CommandLine;
using bench::testing::Folder;
using bench::testing::read;

/// A probe whose passes take long enough for few of them to do.
struct Probe
{
    std::string name = "read";
    double bytes = 64;
    double flops = 0;
    void pass() { std::this_thread::sleep_for(std::chrono::milliseconds{2}); }
};

} // namespace

TEST_CASE("ceilings are measured before and after")
{
    Folder const folder;
    auto const output = folder.file("result.json");
    CommandLine line{output, {}};
    bench::Experiment experiment{"self-test", line.argc(), line.argv()};
    experiment.ceiling([](int threads) {
        CHECK(threads == 1);
        return Probe{};
    });
    auto const code = experiment.each<double>(
        [](bench::Point const&, bench::Trial<double>& trial) { trial.not_applicable("nothing"); });
    REQUIRE(code == 0);
    auto const ceilings = read(output).at("ceilings");
    REQUIRE(ceilings.size() == 2);
    CHECK(ceilings.at(0).at("when") == "before");
    CHECK(ceilings.at(1).at("when") == "after");
    CHECK(ceilings.at(0).at("samples_s").size() >= 5);
}

TEST_CASE("of several processes, the first measures what does not depend on threads")
{
    Folder const folder;
    for (bool const later : {false, true}) {
        auto const output = folder.file("result.json");
        CommandLine line{output,
                         later ? std::vector<std::string>{"--later"} : std::vector<std::string>{}};
        bench::Experiment experiment{"self-test", line.argc(), line.argv()};
        experiment.ceiling([](int) { return Probe{}; }, true);
        experiment.each<double>([&](bench::Point const&, bench::Trial<double>& trial) {
            CHECK(trial.is_first_process() == !later);
            trial.not_applicable("nothing");
        });
        CHECK(read(output).at("ceilings").size() == (later ? 0 : 2));
    }
}

namespace {

/// A probe with a clock of its own, as those of a device.
struct SelfTimed
{
    std::string name = "self_timed";
    double bytes = 0;
    double flops = 1;
    double seconds() { return 0.125; }
};

} // namespace

TEST_CASE("a ceiling may have a clock of its own")
{
    Folder const folder;
    auto const output = folder.file("result.json");
    CommandLine line{output, {}};
    bench::Experiment experiment{"self-test", line.argc(), line.argv()};
    experiment.ceiling([](int) { return SelfTimed{}; });
    auto const code = experiment.each<double>(
        [](bench::Point const&, bench::Trial<double>& trial) { trial.not_applicable("nothing"); });
    REQUIRE(code == 0);
    auto const ceilings = read(output).at("ceilings");
    for (auto const& sample : ceilings.at(0).at("samples_s")) {
        CHECK(sample == 0.125);
    }
}
