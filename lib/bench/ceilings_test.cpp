#include "bench/experiment_test.hpp"
#include "bench/fake_target.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace {

using bench::testing::FakeTarget;
using bench::testing::measure;

/// A ceiling whose passes take long enough for few of them to do.
bench::Ceiling slow_read()
{
    return {
        "read", {.bytes = 64}, [] { std::this_thread::sleep_for(std::chrono::milliseconds{2}); }};
}

/// A ceiling of the target as `lib/cuda` makes them.
bench::Ceiling fake_read(FakeTarget& of)
{
    return {"fake_read", {.flops = 1, .bytes = 8}, [&of] {
                CHECK(of.is_timing);
                of.put([] {});
            }};
}

void measure_nothing(bench::Experiment& experiment)
{
    experiment.study("none").untyped([](bench::Trial& trial) { trial.not_applicable("nothing"); });
}

} // namespace

TEST_CASE("ceilings are measured before and after")
{
    auto const outcome = measure({}, [](bench::Experiment& experiment) {
        measure_nothing(experiment);
        experiment.ceiling([](int threads) {
            CHECK(threads == 1);
            return slow_read();
        });
    });
    REQUIRE(outcome.code == 0);
    auto const& ceilings = outcome.result.at("ceilings");
    REQUIRE(ceilings.size() == 2);
    CHECK(ceilings.at(0).at("when") == "before");
    CHECK(ceilings.at(1).at("when") == "after");
    for (auto const& one : ceilings) {
        CHECK(one.at("name") == "read");
        CHECK(one.at("definition") == bench::ceiling_definition);
        CHECK(one.at("target") == "host");
        CHECK(one.at("bytes") == 64);
        CHECK(one.at("flops") == 0);
        CHECK(one.at("samples_s").size() >= 5);
        for (auto const& sample : one.at("samples_s")) {
            CHECK(sample >= 0.002);
        }
    }
}

TEST_CASE("ceilings are measured again after each third of the points")
{
    struct Expected
    {
        bench::AxisValues points;
        std::string order; ///< a dot for each point
        std::string when;  ///< first and last letters
    };
    for (auto const& expected :
         {Expected{{1, 2}, "c..c", "bear"}, Expected{{1, 2, 3}, "c.c.c.c", "bebnbnar"},
          Expected{{1, 2, 3, 4, 5, 6, 7}, "c..c..c...c", "bebnbnar"}}) {
        std::string order;
        auto const outcome = measure({}, [&](bench::Experiment& experiment) {
            experiment.study("some").axis("i", expected.points).untyped([&](bench::Trial& trial) {
                order += '.';
                trial.not_applicable("nothing");
            });
            experiment.ceiling([&](int) {
                order += 'c';
                return slow_read();
            });
        });
        REQUIRE(outcome.code == 0);
        CHECK(order == expected.order);
        std::string when;
        for (auto const& one : outcome.result.at("ceilings")) {
            when += one.at("when").get<std::string>().front();
            when += one.at("when").get<std::string>().back();
        }
        CHECK(when == expected.when);
    }
}

TEST_CASE("a ceiling of a target is measured by its clock")
{
    FakeTarget fake;
    fake.batch_seconds = [] { return 0.125; };
    auto const outcome = measure({}, [&](bench::Experiment& experiment) {
        measure_nothing(experiment);
        experiment.ceiling(fake, fake_read);
        experiment.ceiling(fake, [&] { return fake_read(fake); });
    });
    REQUIRE(outcome.code == 0);
    auto const& ceilings = outcome.result.at("ceilings");
    REQUIRE(ceilings.size() == 4);
    for (auto const& one : ceilings) {
        CHECK(one.at("name") == "fake_read");
        CHECK(one.at("target") == "fake");
        CHECK(one.at("flops") == 1);
        CHECK(one.at("samples_s") == std::vector<double>(5, 0.125));
    }
}

TEST_CASE("of several processes, the first measures ceilings that do not depend on threads")
{
    FakeTarget device;
    FakeTarget cores;
    cores.by_threads = true;
    for (bool const later : {false, true}) {
        auto const words = later ? std::vector<std::string>{"--later"} : std::vector<std::string>{};
        auto const outcome = measure(words, [&](bench::Experiment& experiment) {
            measure_nothing(experiment);
            experiment.ceiling([](int) { return slow_read(); });
            experiment.ceiling(device, [&] { return fake_read(device); });
            experiment.ceiling(cores, [&] { return fake_read(cores); });
        });
        std::vector<std::string> names;
        for (auto const& one : outcome.result.at("ceilings")) {
            names.push_back(one.at("name"));
        }
        auto const measured = later ? std::vector<std::string>{"read", "fake_read"}
                                    : std::vector<std::string>{"read", "fake_read", "fake_read"};
        REQUIRE(names.size() == 2 * measured.size());
        CHECK(std::equal(measured.begin(), measured.end(), names.begin()));
    }
}
