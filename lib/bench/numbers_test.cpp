#include "bench/experiment_test.hpp"
#include "bench/fake_target.hpp"
#include "bench/numbers.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::testing::FakeTarget;
using bench::testing::measure_point;
using bench::testing::verdict_of;
using namespace std::string_literals;

/// An experiment with axes and options of numbers.
std::string said_of(std::vector<std::string> const& arguments)
{
    static std::int64_t products = 1;
    static double share = 0.5;
    return bench::testing::refused(arguments, [&](bench::Experiment& experiment) {
        experiment.option("products", &products, "").option("share", &share, "");
        experiment.study("sizes")
            .axis("size", {std::int64_t{4}, std::int64_t{8}})
            .axis("steps", {std::int64_t{0}, std::int64_t{100}})
            .axis("scale", {0.5})
            .untyped([](bench::Trial& trial) { trial.run(); });
    });
}

/// Why a copy fails that is timed by such a clock; "passed" if it does not.
std::string verdict_by(std::function<double()> clock)
{
    FakeTarget fake;
    fake.batch_seconds = std::move(clock);
    auto const outcome = measure_point({}, [&](bench::Trial& trial) {
        auto const x = trial.input<double>(1);
        auto const y = trial.output<double>(1);
        y.expect([x] { return bench::Expected{{x.on()[0]}, {0}}; });
        auto const copy = [from = x.on(fake), to = y.on(fake)] { to[0] = from[0]; };
        trial.add("copy", [&fake, copy] { fake.put(copy); }).on(fake).excerpt("kernel");
        trial.run();
    });
    return verdict_of(outcome.result, "copy");
}

} // namespace

TEST_CASE("numbers that are none, or out of range, are one line")
{
    std::string const huge(400, '9');
    for (auto const* option : {"--samples", "--seed", "--products", "--size", "--steps"}) {
        for (auto const& text : {"nan"s, "inf"s, "1e3"s, "0x10"s, " 4"s, "4 "s, "4.5"s, "--"s, huge,
                                 "-1"s, "+4"s, "9223372036854775808"s}) {
            auto const line = said_of({std::string{option} + "=" + text});
            CAPTURE(std::string{option});
            CAPTURE(text);
            CHECK(line.find(option) != std::string::npos);
            CHECK(line.find("expected a whole number from ") != std::string::npos);
            CHECK(line.size() < 200);
        }
    }
    for (auto const* option : {"--min-time", "--share", "--scale"}) {
        for (auto const& text :
             {"nan"s, "inf"s, "-inf"s, "1e309"s, "-1"s, "0x1p3"s, "1,5"s, huge}) {
            auto const line = said_of({std::string{option} + "=" + text});
            CAPTURE(std::string{option});
            CAPTURE(text);
            CHECK(line.find(option) != std::string::npos);
            CHECK(line.find("expected a") != std::string::npos);
        }
    }
    CHECK(said_of({"--size", "0"}).find("from 1 to 2147483647") != std::string::npos);
    CHECK(said_of({"--min-time", "0"}).find("from 1e-09 to 3600") != std::string::npos);
    CHECK(said_of({"--size="}).find("--size") != std::string::npos);
    CHECK(said_of({"--seed", "1", "--seed", "2"}).find("--seed") != std::string::npos);
}

TEST_CASE("a clock that stands still or goes back is said, not waited for")
{
    CHECK(verdict_by([] { return 0.0; }) == "its clock stood still during 16384 calls");
    CHECK(verdict_by([] { return -1e-3; }) == "its clock stood still during 16384 calls");
    CHECK(verdict_by([batch = 0]() mutable {
              return ++batch < 4 ? 1e-3 : 0.0;
          }).find("its clock stood still, or went back, during a sample") == 0);
    CHECK(verdict_by([] { return std::nan(""); }).find("its clock stood still") == 0);
}

TEST_CASE("samples are long where a clock is coarse")
{
    CHECK(verdict_by([batch = 0]() mutable { return ++batch > 6 ? 4e-3 : 0.0; }) == "passed");
}

TEST_CASE("a ceiling whose clock stands still is said")
{
    FakeTarget fake;
    fake.batch_seconds = [] { return 0.0; };
    auto const line = bench::testing::refused({}, [&](bench::Experiment& experiment) {
        experiment.ceiling(fake, [] { return bench::Ceiling{"read", {.bytes = 8}, [] {}}; });
        experiment.study("nothing").untyped([](bench::Trial&) {});
    });
    CHECK(line.find("the clock of fake stood still during 4096 passes") != std::string::npos);
}

TEST_CASE("a count that is no finite number fails its variant alone")
{
    auto const outcome = measure_point({}, [](bench::Trial& trial) {
        auto const x = trial.input<double>(1);
        auto const y = trial.output<double>(1);
        y.expect([x] { return bench::Expected{{x.on()[0]}, {0}}; });
        auto const copy = [from = x.on(), to = y.on()] { to[0] = from[0]; };
        trial.add("sound", copy).excerpt("kernel");
        trial
            .add("odd",
                 [copy](bench::Variant& v) {
                     v.count("ratio", std::numeric_limits<double>::infinity());
                     return copy;
                 })
            .excerpt("kernel");
        trial.run();
    });
    CHECK(outcome.code == 1);
    CHECK(verdict_of(outcome.result, "sound") == "passed");
    CHECK(verdict_of(outcome.result, "odd") ==
          "it counts inf of 'ratio', which is no finite number");
}

TEST_CASE("a run of nothing is no success")
{
    auto const declare = [](bench::Experiment& experiment) {
        experiment.study("copies").untyped([](bench::Trial& trial) {
            auto const x = trial.input<double>(1);
            auto const y = trial.output<double>(1);
            y.expect([x] { return bench::Expected{{x.on()[0]}, {0}}; });
            trial
                .add("never",
                     [](bench::Variant&) -> bench::Variant::Call {
                         throw bench::NotApplicable{"no such instructions here"};
                     })
                .excerpt("kernel");
            trial.run();
        });
    };
    CHECK(bench::testing::refused({"--filter", "zzz"}, declare).find("found 'zzz'") !=
          std::string::npos);
}
