#include "bench/experiment_test.hpp"
#include "bench/fake_target.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::testing::FakeTarget;
using bench::testing::measure_point;
using bench::testing::refused;
using bench::testing::verdict_of;

constexpr std::size_t count = 100;

bench::Expected times(bench::Input<double> x, double factor)
{
    bench::Expected wanted{{}, std::vector<double>(x.size(), 1e-12)};
    for (double const element : x.on()) {
        wanted.value.push_back(factor * element);
    }
    return wanted;
}

void multiply(std::span<double const> x, double factor, std::span<double> y)
{
    std::ranges::transform(x, y.begin(), [factor](double element) { return factor * element; });
}

} // namespace

TEST_CASE("an output of a variant's own is checked in place of the trial's, and no other's")
{
    FakeTarget fake;
    std::vector<double> callers(count);
    auto const outcome = measure_point({}, [&](bench::Trial& trial) {
        auto const x = trial.input<double>(count);
        auto const y = trial.output<double>(count).expect([x] { return times(x, 1); });
        auto const add = [&](std::string const& name, double factor, bool in_trials) {
            trial
                .add(name,
                     [&, factor, in_trials](bench::Variant& v) {
                         auto const own = v.output<double>(count);
                         own.expect([x] { return times(x, 3); });
                         return [&, x, y, own, factor, in_trials] {
                             multiply(x, factor, in_trials ? y : own);
                         };
                     })
                .excerpt("kernel");
        };
        trial.add("plain", [=] { multiply(x, 1, y); }).excerpt("kernel");
        add("probe", 3, false);
        add("wrong", 1, false);
        add("in_trials_output", 1, true);
        auto const in_callers = [&](bench::Variant& v) {
            v.output(std::span{callers}).expect([x] { return times(x, 4); });
            return [&, x] { multiply(x, 4, callers); };
        };
        trial.add("in_callers", in_callers).excerpt("kernel");
        auto const two = [&](bench::Variant& v) {
            auto const first = v.output<double>(count).expect([x] { return times(x, 1); });
            auto const second = v.output<float>(1).expect([] { return bench::Expected{{7}, {0}}; });
            return [=] {
                multiply(x, 1, first);
                second.on()[0] = 8;
            };
        };
        trial.add("second_is_wrong", two).excerpt("kernel");
        auto const on_fake = [&](bench::Variant& v) {
            auto const own = v.output<double>(count).expect([x] { return times(x, 5); });
            return [&, from = x.on(fake), to = own.on(fake)] {
                fake.put([from, to] { multiply(from, 5, to); });
            };
        };
        trial.add("on_fake", on_fake).on(fake).excerpt("kernel");
        trial.run();
    });
    CHECK(outcome.code == 1);
    for (auto const* right : {"plain", "probe", "in_callers", "on_fake"}) {
        CAPTURE(right);
        CHECK(verdict_of(outcome.result, right) == "passed");
    }
    CHECK(verdict_of(outcome.result, "wrong").find("100 of 100") != std::string::npos);
    CHECK(verdict_of(outcome.result, "in_trials_output").find("element 0 was not written") !=
          std::string::npos);
    CHECK(verdict_of(outcome.result, "second_is_wrong").find("1 of 1 elements are wrong") !=
          std::string::npos);
}

TEST_CASE("what nobody could check is refused")
{
    auto const refused_trial = [](auto body) {
        return refused(
            {}, [=](bench::Experiment& experiment) { experiment.study("point").untyped(body); });
    };
    CHECK(refused_trial([](bench::Trial& trial) {
              trial.output<double>(1);
              trial.run();
          }) == "self-test: an output has no expected result");
    CHECK(refused_trial([](bench::Trial& trial) {
              trial.add("aimless", [] {}).excerpt("kernel");
              trial.run();
          }) == "self-test: variant 'aimless' has no output");
    CHECK(refused_trial([](bench::Trial& trial) {
              auto const setup = [](bench::Variant& v) {
                  v.output<double>(1);
                  return [] {};
              };
              trial.add("careless", setup).excerpt("kernel");
              trial.run();
          }) == "self-test: an output of variant 'careless' has no expected result");
    CHECK(refused_trial([](bench::Trial& trial) {
              trial.output<double>(2).expect([] { return bench::Expected{{1}, {0}}; });
              trial.add("any", [] {}).excerpt("kernel");
              trial.run();
          }) == "self-test: the expected result has 1 elements, the output 2");
    CHECK(refused_trial([](bench::Trial& trial) {
              trial.output<double>(2).expect(0, [](auto...) {});
              trial.add("any", [] {}).excerpt("kernel");
              trial.run();
          }) == "self-test: blocks of an expected result begin at multiples of 0");
}

TEST_CASE("a trial whose variants all have outputs of their own needs none")
{
    auto const outcome = measure_point({}, [](bench::Trial& trial) {
        auto const x = trial.input<double>(count);
        auto const setup = [=](bench::Variant& v) {
            auto const y = v.output<double>(count).expect([x] { return times(x, 2); });
            return [=] { multiply(x, 2, y); };
        };
        trial.add("own", setup).excerpt("kernel");
        trial.run();
    });
    CHECK(outcome.code == 0);
    CHECK(verdict_of(outcome.result, "own") == "passed");
}

TEST_CASE("a trial may have several outputs, of different types and expectations")
{
    auto const outcome = measure_point({}, [](bench::Trial& trial) {
        auto const x = trial.input<double>(count);
        auto const y = trial.output<double>(count).expect([x] { return times(x, 2); });
        auto const n = trial.output<std::int32_t>(count).expect(
            10, [](std::size_t first, std::span<double> value, std::span<double>) {
                CHECK(first % 10 == 0);
                for (std::size_t i = 0; i < value.size(); ++i) {
                    value[i] = static_cast<double>(first + i);
                }
            });
        auto const write = [=](std::size_t integers) {
            return [=] {
                multiply(x, 2, y);
                for (std::size_t i = 0; i < integers; ++i) {
                    n.on()[i] = static_cast<std::int32_t>(i);
                }
            };
        };
        trial.add("both", write(count)).excerpt("kernel");
        trial.add("first_only", write(count - 1)).excerpt("kernel");
        trial.run();
    });
    CHECK(outcome.code == 1);
    CHECK(verdict_of(outcome.result, "both") == "passed");
    CHECK(verdict_of(outcome.result, "first_only").find("element 99 is -2.139") !=
          std::string::npos);
}

namespace {

/// The most memory that this process has used, in bytes.
std::size_t peak_memory()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

template <class T>
void repeat(std::vector<T> const& values, std::span<T> to)
{
    for (std::size_t i = 0; i < to.size(); i += values.size()) {
        std::memcpy(&to[i], values.data(), values.size() * sizeof(T));
    }
}

/// Checks 256 MiB in the memory of `fake`, or of the host if it is null, whose last element but one
/// is wrong, so that nothing is timed. How many bytes that raises the peak of this process by, the
/// data not counted, and why the variant failed.
std::pair<std::size_t, std::string> memory_of_check(FakeTarget* fake)
{
    constexpr std::size_t elements = std::size_t{1} << 26;
    constexpr std::size_t pattern = 1 << 12;
    auto& where = fake != nullptr ? *fake : bench::host();
    std::size_t before = 0;
    auto const outcome = measure_point({}, [&](bench::Trial& trial) {
        std::vector<float> values(pattern);
        trial.fill()(std::span{values});
        std::vector<double> const expected(values.begin(), values.end());
        auto const y = trial.output<float>(elements);
        y.expect(pattern, [&](std::size_t, std::span<double> value, std::span<double>) {
            repeat(expected, value);
        });
        auto const setup = [&](bench::Variant&) {
            auto const write = [&, to = y.on(where)] {
                repeat(values, to);
                to[elements - 2] = 8;
                before = peak_memory();
            };
            return [=] { fake != nullptr ? fake->put(write) : write(); };
        };
        trial.add("repeat", setup).on(where).excerpt("kernel");
        trial.run();
    });
    auto const raised = peak_memory() - before;
    return {raised, outcome.result.at("cases").at(0).at("verdict").at("reason")};
}

/// What only a process of its own can tell, as a peak never falls: 0 if the check needs little
/// memory, or what is wrong. Nothing of doctest's works here.
int exit_code_of_check(FakeTarget* fake) noexcept
{
    constexpr std::size_t most = 80 << 20; // with the output, 1.3 times its size
    auto const [raised, reason] = memory_of_check(fake);
    bool const is_found = reason.starts_with(
        "exact check, call 1: 1 of 67108864 elements are wrong; element 67108862 is 8, expected ");
    return !is_found ? 1 : raised > most ? 2 : 0;
}

} // namespace

TEST_CASE("a wrong element far behind the first block is found and named")
{
    constexpr std::size_t elements = 2'500'000;
    constexpr std::size_t wrong = 2'400'001;
    FakeTarget fake;
    auto const outcome = measure_point({}, [&](bench::Trial& trial) {
        auto const y = trial.output<float>(elements);
        y.expect(3, [](std::size_t first, std::span<double> value, std::span<double> bound) {
            CHECK(first % 3 == 0);
            CHECK(value.size() == bound.size());
            CHECK(value.size() <= 1 << 20);
            std::ranges::fill(value, 7);
        });
        auto const write = [](std::span<float> to) {
            std::ranges::fill(to, 7.0f);
            to[wrong] = 8;
        };
        trial.add("on_host", [=] { write(y); }).excerpt("kernel");
        auto const on_fake = [&, write](bench::Variant&) {
            return [&, write, to = y.on(fake)] { fake.put([=] { write(to); }); };
        };
        trial.add("on_fake", on_fake).on(fake).excerpt("kernel");
        trial.run();
    });
    for (auto const* variant : {"on_host", "on_fake"}) {
        CHECK(verdict_of(outcome.result, variant) ==
              "exact check, call 1: 1 of 2500000 elements are wrong; element 2400001 is 8, "
              "expected 7 exactly");
    }
}

TEST_CASE("checking a large output block by block needs little memory beside it")
{
    FakeTarget fake;
    for (auto* const where : {static_cast<FakeTarget*>(nullptr), &fake}) {
        CAPTURE((where != nullptr));
        auto const child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            _exit(exit_code_of_check(where));
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        REQUIRE(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 0);
    }
}
