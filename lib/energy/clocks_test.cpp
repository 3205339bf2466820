#include "energy/clocks.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <thread>

namespace {

using energy::CounterSteps;

/// Counts so many joules a second, in steps of so many seconds, by a clock of its own.
class Stepping : public energy::Counter
{
public:
    double now = 0.03;
    double watts = 200;
    double step_s = 0.1;

    std::string name() const override { return "stepping"; }
    std::string missing() const override { return ""; }
    double joules() override { return watts * step_s * std::floor(now / step_s); }
};

/// The same by the clock on the wall.
class OnTheWall : public Stepping
{
public:
    double joules() override
    {
        now = energy::now();
        return Stepping::joules();
    }
};

} // namespace

TEST_CASE("steps begin with the first change and end with the last")
{
    Stepping counter;
    CounterSteps steps{counter, [&] { return counter.now; }};
    std::size_t polls = 0;
    while (steps.count() < 10) {
        steps.poll();
        counter.now += 0.003;
        ++polls;
    }
    CHECK(polls > 330);
    CHECK(steps.seconds() == doctest::Approx(1).epsilon(0.003));
    CHECK(steps.joules() == doctest::Approx(200));
    CHECK(steps.watts() == doctest::Approx(200).epsilon(0.003));
}

TEST_CASE("what happened before the first step counts nothing")
{
    Stepping counter;
    CounterSteps steps{counter, [&] { return counter.now; }};
    steps.poll();
    counter.now = 0.101; // part of this step was another kernel's
    steps.poll();
    CHECK(steps.count() == 0);
    counter.now = 0.201;
    steps.poll();
    CHECK(steps.count() == 1);
    CHECK(steps.joules() == doctest::Approx(20));
}

TEST_CASE("only a sample that was announced lasts, and it tells joules of a batch")
{
    OnTheWall counter;
    counter.step_s = 0.01;
    energy::HostEnergyClock clock{counter};
    clock.lasts(0.1);
    int batches = 0;
    auto const batch = [&] {
        ++batches;
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    };
    CHECK(clock.seconds(batch) < 0.1);
    CHECK(batches == 1);
    clock.wake();
    auto const seconds = clock.seconds(batch);
    CHECK(batches > 10);
    CHECK(seconds >= 0.002);
    CHECK(clock.joules() == doctest::Approx(200 * seconds).epsilon(0.2));
    CHECK(clock.step_s() == doctest::Approx(0.01).epsilon(0.2));
    auto const before = batches;
    clock.seconds(batch);
    CHECK(batches == before + 1);
}
