#include "bench/experiment_test.hpp"
#include "bench/fake_target.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using bench::testing::cases_of;
using bench::testing::FakeTarget;
using bench::testing::measure;
using bench::testing::measure_point;
using bench::testing::verdict_of;

/// What a library does that is not made for its input.
[[noreturn]] void refuse()
{
    throw base::NotApplicable{"symmetric matrices only"};
}

struct Copy
{
    explicit Copy(bench::Trial& trial) : x{trial.input<double>(4)}, y{trial.output<double>(4)}
    {
        y.expect([x = x.on()] {
            return bench::Expected{{x.begin(), x.end()}, std::vector(x.size(), 0.0)};
        });
    }
    void operator()() const { std::ranges::copy(x.on(), y.on().begin()); }

    bench::Input<double> x;
    bench::Output<double> y;
};

} // namespace

TEST_CASE("a point that does not apply is recorded with its reason, wherever the body finds out")
{
    auto const outcome = measure({}, [](bench::Experiment& experiment) {
        auto const body = [](bench::Trial& trial) {
            auto const& when = trial.text("when");
            if (when == "at_once") {
                trial.not_applicable("too large");
            }
            Copy const copy{trial};
            trial.add("copy", copy).excerpt("kernel");
            if (when == "in_a_library") {
                refuse();
            }
            if (when == "before_it_is_timed" && trial.is_timed()) {
                refuse();
            }
            if (when == "at_a_refill") {
                trial.on_refill(refuse);
            }
            trial.run();
        };
        experiment.study("copies")
            .axis("when", {"at_once", "in_a_library", "before_it_is_timed", "at_a_refill", "never"})
            .untyped(body);
    });
    REQUIRE(outcome.code == 0);
    auto const& skipped = outcome.result.at("skipped");
    REQUIRE(skipped.size() == 4);
    for (auto const& one : skipped) {
        auto const& when = one.at("parameters").at("when");
        CHECK(one.at("study") == "copies");
        CHECK(!one.contains("variant"));
        CHECK(one.at("reason") == (when == "at_once" ? "too large" : "symmetric matrices only"));
    }
    auto const cases = cases_of(outcome.result, "copy");
    REQUIRE(cases.size() == 1);
    CHECK(cases.front().at("parameters").at("when") == "never");
}

TEST_CASE("a variant that is not made for its inputs is skipped with its reason, on any target")
{
    FakeTarget fake;
    auto const outcome = measure({}, [&](bench::Experiment& experiment) {
        auto const body = [&](bench::Trial& trial) {
            Copy const copy{trial};
            trial.add("sound", copy).excerpt("kernel");
            auto const setup = [&](bench::Variant& v) {
                if (trial.integer("size") == 2) {
                    v.not_applicable("too large");
                }
                if (trial.integer("size") == 3) {
                    refuse();
                }
                if (trial.integer("size") == 4 && trial.is_timed()) {
                    refuse();
                }
                return copy;
            };
            trial.add("small_only", setup).excerpt("kernel").group("format");
            trial.add("small_on_fake", setup).excerpt("kernel").on(fake, bench::host());
            trial.run();
        };
        auto const sizes = {1, 2, 3, 4};
        bench::AxisValues values;
        values.tiny.assign(sizes.begin(), sizes.end());
        experiment.study("copies").axis("size", values).untyped(body);
    });
    REQUIRE(outcome.code == 0);
    CHECK(cases_of(outcome.result, "sound").size() == 4);
    CHECK(cases_of(outcome.result, "small_only").size() == 1);
    CHECK(cases_of(outcome.result, "small_on_fake").size() == 1);
    auto const& skipped = outcome.result.at("skipped");
    REQUIRE(skipped.size() == 6);
    CHECK(skipped.at(0).at("variant") == "small_only");
    CHECK(skipped.at(0).at("group") == "format");
    CHECK(skipped.at(0).at("reason") == "too large");
    CHECK(skipped.at(1).at("variant") == "small_on_fake");
    for (std::size_t i = 2; i < 6; ++i) {
        CHECK(skipped.at(i).at("reason") == "symmetric matrices only");
    }
}

TEST_CASE("what a setup left behind when it threw is not used")
{
    for (bool const fails : {false, true}) {
        std::vector<double> own(4);
        int told = 0;
        auto const outcome = measure_point({}, [&](bench::Trial& trial) {
            Copy const copy{trial};
            trial
                .add("gives_up",
                     [&](bench::Variant& v) {
                         v.output(std::span{own});
                         v.on_refill([&] { ++told; });
                         v.on_reset([&] { ++told; });
                         own.assign(4, 7); // as if it were given back to whom it belongs
                         if (fails) {
                             throw std::runtime_error{"out of memory"};
                         }
                         refuse();
                         return copy;
                     })
                .excerpt("kernel");
            trial.add("copy", copy).excerpt("kernel");
            trial.run();
        });
        CHECK(outcome.code == (fails ? 1 : 0));
        CHECK(verdict_of(outcome.result, "copy") == "passed");
        CHECK(own == std::vector(4, 7.0));
        CHECK(told == 0);
        if (fails) {
            CHECK(verdict_of(outcome.result, "gives_up") ==
                  "exact check, setup threw: out of memory");
        } else {
            CHECK(outcome.result.at("skipped").size() == 1);
        }
    }
}
