#include "bench/experiment_test.hpp"
#include "bench/fake_target.hpp"
#include "bench/record.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::testing::FakeTarget;
using bench::testing::Json;
using bench::testing::measure_point;
using bench::testing::verdict_of;

/// Batches that take different times, in an order that is not theirs.
struct Varied
{
    double operator()()
    {
        step = (step * 61 + 7) % 1009;
        last = 1e-3 * static_cast<double>(1 + step);
        return last;
    }
    unsigned step = 1;
    double last = 0;
};

/// Measures a variant that notes what each batch took, and one that is wrong when it is timed.
Json measured(FakeTarget& fake, std::string const& samples)
{
    Varied batches;
    fake.batch_seconds = [&] { return batches(); };
    auto const outcome = measure_point({"--samples", samples}, [&](bench::Trial& trial) {
        auto const x = trial.input<double>(1);
        auto const y = trial.output<double>(1);
        y.expect([x] { return bench::Expected{{x.on()[0]}, {0}}; });
        auto const setup = [&](bool is_right) {
            return [&, is_right](bench::Variant& v) {
                v.count("messages", 12);
                v.count("took", [&] { return batches.last; });
                v.count("noted", [&] { return 2 * batches.last; });
                v.count("calls", [](std::uint64_t calls) { return static_cast<double>(calls); });
                v.timeline([&] {
                    auto const half = batches.last / 2;
                    return std::vector<bench::Span>{{"copies", "up", 0, half},
                                                    {"kernels", "multiply", half, batches.last}};
                });
                return [&, is_right, calls = 0, from = x.on(fake), to = y.on(fake)]() mutable {
                    bool const writes = is_right || calls++ < 2;
                    fake.put([from, to, writes] { to[0] = writes ? from[0] : 0; });
                };
            };
        };
        trial.add("right", setup(true)).on(fake).excerpt("kernel");
        trial.add("wrong", setup(false)).on(fake).excerpt("kernel");
        auto const plain = [from = x.on(), to = y.on()] { to[0] = from[0]; };
        trial.add("plain", plain).excerpt("kernel");
        trial.run();
    });
    CHECK(outcome.code == 1);
    CHECK(verdict_of(outcome.result, "right") == "passed");
    CHECK(verdict_of(outcome.result, "wrong").find("a timed call") != std::string::npos);
    return outcome.result.at("cases");
}

} // namespace

TEST_CASE("what a variant counts in each round stands beside its samples, twins with their own")
{
    FakeTarget fake;
    std::set<std::vector<double>> counted;
    std::size_t twins = 0;
    for (auto const& one : measured(fake, "5")) {
        if (one.at("variant") == "plain") {
            CHECK(!one.contains("rounds"));
            CHECK(!one.contains("timeline"));
            continue;
        }
        CHECK(one.at("setup").at("counts") == Json{{"messages", 12}});
        REQUIRE(one.at("rounds").size() == 3);
        auto const took = one.at("rounds").at("took").get<std::vector<double>>();
        CHECK(took == one.at("samples_s").get<std::vector<double>>());
        if (one.at("variant") == "wrong") {
            CHECK(took.empty());
            CHECK(one.at("rounds").at("noted").empty());
            CHECK(!one.contains("timeline"));
            continue;
        }
        REQUIRE(took.size() == 5);
        for (std::size_t i = 0; i < took.size(); ++i) {
            CHECK(one.at("rounds").at("noted").at(i) == doctest::Approx(2 * took[i]));
            CHECK(one.at("rounds").at("calls").at(i) == one.at("iterations"));
        }
        CHECK(counted.insert(took).second);
        twins += one.at("twin").get<bool>() ? 1 : 0;
    }
    CHECK(twins == 7); // of 20, over three variants
    CHECK(counted.size() == 1 + twins);
}

TEST_CASE("the timeline that is kept is that of the sample with the median time")
{
    FakeTarget fake;
    for (auto const* samples : {"5", "6"}) {
        std::size_t timelines = 0;
        for (auto const& one : measured(fake, samples)) {
            if (!one.contains("timeline")) {
                continue;
            }
            ++timelines;
            auto const times = one.at("samples_s").get<std::vector<double>>();
            auto const& spans = one.at("timeline");
            REQUIRE(spans.size() == 2);
            CHECK(spans.at(0).at("lane") == "copies");
            CHECK(spans.at(0).at("name") == "up");
            CHECK(spans.at(0).at("begin_s") == 0);
            CHECK(spans.at(1).at("begin_s") == spans.at(0).at("end_s"));
            auto const kept = spans.at(1).at("end_s").get<double>();
            // Of an even number, one of the two in the middle.
            CHECK(std::ranges::count(times, kept) == 1);
            auto const below = std::ranges::count_if(times, [=](double t) { return t < kept; });
            CHECK(below >= static_cast<std::ptrdiff_t>(times.size() - 1) / 2);
            CHECK(below <= static_cast<std::ptrdiff_t>(times.size()) / 2);
        }
        CHECK(timelines == 1 + 7);
    }
}

TEST_CASE("before a warm sample come four calls, fewer of those that take long, at least one")
{
    auto const settling = [](double seconds_of_a_call) {
        FakeTarget fake;
        std::size_t before = 0;
        std::size_t last = 0;
        fake.batch_seconds = [&] {
            last = std::exchange(before, 0);
            return seconds_of_a_call;
        };
        auto const outcome = measure_point({}, [&](bench::Trial& trial) {
            auto const x = trial.input<double>(1);
            auto const y = trial.output<double>(1);
            y.expect([x] { return bench::Expected{{x.on()[0]}, {0}}; });
            auto const copy = [&](bench::Variant&) {
                return [&, from = x.on(fake), to = y.on(fake)] {
                    before += fake.is_timing ? 0 : 1;
                    fake.put([from, to] { to[0] = from[0]; });
                };
            };
            trial.add("counted", copy).on(fake).excerpt("kernel");
            trial.run();
        });
        CHECK(verdict_of(outcome.result, "counted") == "passed");
        return last;
    };
    CHECK(settling(1e-3) == 4);
    CHECK(settling(0.04) == 3);
    CHECK(settling(0.3) == 1);
    CHECK(settling(7) == 1);
}

namespace {

using bench::Disturbance;
using bench::Disturbances;

Disturbances so_often(Disturbance which, std::uint64_t times)
{
    Disturbances counts{};
    counts[static_cast<std::size_t>(which)] = times;
    return counts;
}

/// The case of one variant that is measured in ten rounds, without twins, on such a system.
Json disturbed_case(std::shared_ptr<bench::Witness> system)
{
    bench::testing::tested_system = std::move(system);
    auto const outcome = measure_point({"--samples", "10"}, [](bench::Trial& trial) {
        auto const x = trial.input<double>(1);
        auto const y = trial.output<double>(1);
        y.expect([x] { return bench::Expected{{x.on()[0]}, {0}}; });
        trial.add("plain", [from = x.on(), to = y.on()] { to[0] = from[0]; }).excerpt("kernel");
        trial.run();
    });
    bench::testing::tested_system = std::make_shared<bench::testing::ScriptedSystem>();
    REQUIRE(outcome.code == 0);
    return bench::testing::cases_of(outcome.result, "plain").at(0);
}

} // namespace

TEST_CASE("what disturbed a sample is noted, and its round taken once more")
{
    // Twins take part: 21 samples a round, and before and after each the system is asked.
    constexpr std::size_t asked_a_round = 2 * 21;
    auto const once = [](std::size_t asked) {
        return so_often(Disturbance::preempted, asked > 3 * asked_a_round ? 1 : 0);
    };
    auto const calm = disturbed_case(std::make_shared<bench::testing::ScriptedSystem>());
    CHECK(calm.at("samples_s").size() == 10);
    CHECK(!calm.contains("disturbed"));
    auto const one = disturbed_case(std::make_shared<bench::testing::ScriptedSystem>(once));
    CHECK(one.at("samples_s").size() == 11);
}

TEST_CASE("what happens to the machine disturbs all samples of its round")
{
    auto const seventh = [](std::size_t asked) { // before and after each round
        return so_often(Disturbance::stolen, asked >= 2 * 7 - 1 ? 5 : 0);
    };
    auto const one =
        disturbed_case(std::make_shared<bench::testing::ScriptedSystem>(nullptr, seventh));
    CHECK(one.at("samples_s").size() == 11);
    CHECK(one.at("disturbed") == Json{{"stolen", {6}}});
}

TEST_CASE("where more than a fifth of the rounds are disturbed none is taken once more")
{
    auto const always = [](std::size_t asked) { return so_often(Disturbance::migrated, asked); };
    auto const one = disturbed_case(std::make_shared<bench::testing::ScriptedSystem>(always));
    CHECK(one.at("samples_s").size() == 10);
    CHECK(one.at("disturbed").at("migrated").size() == 10);
}

TEST_CASE("an experiment may say that it takes fewer samples than is usual")
{
    auto const declare = [](bench::Experiment& experiment) {
        experiment.sampling({.rounds = 2, .pairs = 3});
        auto& study = experiment.study("few").axis("size", {std::int64_t{1}, std::int64_t{2}});
        study.untyped([](bench::Trial& trial) {
            auto const x = trial.input<double>(1);
            auto const y = trial.output<double>(1);
            y.expect([x] { return bench::Expected{{x.on()[0]}, {0}}; });
            trial.add("plain", [from = x.on(), to = y.on()] { to[0] = from[0]; }).excerpt("kernel");
            trial.run();
        });
    };
    auto const found = bench::testing::measure({"--profile", "quick"}, declare).result;
    CHECK(found.at("run").at("rounds") == 2);
    REQUIRE(found.at("cases").size() == 2 * (1 + 2)); // three pairs of two points: two each
    CHECK(found.at("cases").at(0).at("samples_s").size() == 2);
    auto const asked = bench::testing::measure({"--profile", "quick", "--samples", "4"}, declare);
    CHECK(asked.result.at("run").at("rounds") == 4);
}
