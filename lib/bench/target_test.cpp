#include "bench/experiment_test.hpp"
#include "bench/fake_target.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

using bench::testing::cases_of;
using bench::testing::FakeTarget;
using bench::testing::Json;
using bench::testing::measure;
using bench::testing::measure_point;
using bench::testing::verdict_of;

constexpr std::size_t doubled_elements = 100;

/// y = 2 x, on any target.
struct Twice
{
    explicit Twice(bench::Trial& trial)
        : x{trial.input<double>(doubled_elements)}, y{trial.output<double>(doubled_elements)}
    {
        trial.work({.flops = doubled_elements, .bytes = 16 * doubled_elements});
        y.expect([x = x] {
            bench::Expected wanted{{}, std::vector<double>(doubled_elements, 1e-12)};
            for (double const value : x.on()) {
                wanted.value.push_back(2 * value);
            }
            return wanted;
        });
    }

    /// From the copy of x in the memory of `where` to that of y.
    std::function<void()> kernel(bench::Target& where, double factor = 2) const
    {
        return [in = x.on(where), out = y.on(where), factor] {
            for (std::size_t i = 0; i < in.size(); ++i) {
                out[i] = factor * in[i];
            }
        };
    }

    /// The same as work for its queue.
    std::function<void()> queued(FakeTarget& where, double factor = 2) const
    {
        return [&where, work = kernel(where, factor)] { where.put(work); };
    }

    bench::Input<double> x;
    bench::Output<double> y;
};

/// The host's, beside another target: notes when it wakes who works, and lets nothing else run.
struct QuietClock : bench::HostClock
{
    explicit QuietClock(FakeTarget& beside) : other{&beside} {}
    void wake() override { other->told += 'h'; }
    double seconds(std::function<void()> const& batch) override
    {
        CHECK(other->is_idle());
        return HostClock::seconds(batch);
    }
    FakeTarget* other;
};

bool is_poisoned(std::span<double const> values)
{
    return std::ranges::all_of(values, [](double value) { return std::isnan(value); });
}

std::size_t contenders_of(Json const& result, std::string const& target)
{
    return static_cast<std::size_t>(std::ranges::count_if(
        result.at("cases"), [&](Json const& one) { return one.at("target") == target; }));
}

} // namespace

TEST_CASE("variants of several targets are verified and timed in one trial, in the same rounds")
{
    FakeTarget fake;
    QuietClock clock{fake};
    auto const outcome = measure_point({"--samples", "4"}, [&](bench::Trial& trial) {
        Twice const twice{trial};
        trial.add("on_host", twice.kernel(bench::host())).clock(clock).excerpt("kernel");
        auto const wrong = [&](bench::Variant&) { return twice.queued(fake, 3); };
        trial.add("wrong_on_fake", wrong).on(fake).excerpt("kernel");
        auto const right = [&](bench::Variant&) { return twice.queued(fake); };
        trial.add("on_fake", right).on(fake).excerpt("kernel");
        trial.run();
    });
    CHECK(outcome.code == 1);
    CHECK(verdict_of(outcome.result, "on_host") == "passed");
    CHECK(verdict_of(outcome.result, "on_fake") == "passed");
    auto const reason = verdict_of(outcome.result, "wrong_on_fake");
    CHECK(reason.find("exact check, call 1: 100 of 100 elements are wrong") == 0);

    auto const on_fake = cases_of(outcome.result, "on_fake").front();
    CHECK(on_fake.at("target") == "fake");
    CHECK(on_fake.at("clock") == "fake-warm");
    CHECK(on_fake.at("samples_s") == std::vector<double>(4, 1e-3));
    CHECK(on_fake.at("setup").at("seconds") == 0.5);
    CHECK(cases_of(outcome.result, "on_host").front().at("clock") == "host");

    // Of 22 contenders, with 20 twins, half are the host's, in each of four rounds.
    std::string rounds = fake.told;
    std::erase_if(rounds, [](char told) { return told != 'h' && told != 'w'; });
    REQUIRE(rounds.size() == 4 * 22);
    for (std::size_t round = 0; round < 4; ++round) {
        CHECK(std::ranges::count(rounds.substr(22 * round, 22), 'h') == 11);
    }
}

TEST_CASE("a variant of another target that is right until it is timed fails")
{
    FakeTarget fake;
    auto const outcome = measure_point({}, [&](bench::Trial& trial) {
        Twice const twice{trial};
        trial.add("on_host", twice.kernel(bench::host())).excerpt("kernel");
        auto const tires = [&](bench::Variant&) {
            return [&, calls = 0, right = twice.kernel(fake),
                    wrong = twice.kernel(fake, 3)]() mutable {
                fake.put(calls++ < 2 ? right : wrong);
            };
        };
        trial.add("tires", tires).on(fake).excerpt("kernel");
        trial.run();
    });
    CHECK(outcome.code == 1);
    CHECK(verdict_of(outcome.result, "on_host") == "passed");
    CHECK(verdict_of(outcome.result, "tires").find("a timed call: 100 of 100") == 15);
}

TEST_CASE("a variant that only fetches its neighbour's result fails, one that computes it passes")
{
    FakeTarget fake;
    auto const outcome = measure_point({}, [&](bench::Trial& trial) {
        Twice const twice{trial};
        auto const stays = [&](bench::Variant&) { return twice.queued(fake); };
        trial.add("stays", stays).on(fake).excerpt("kernel");
        auto const fetches = [&](bench::Variant&) { return [&] { twice.y.download(fake); }; };
        trial.add("fetches", fetches).on(fake, bench::host()).excerpt("kernel");
        auto const whole_way = [&](bench::Variant&) {
            return [&, compute = twice.queued(fake)] {
                twice.x.upload(fake);
                compute();
                twice.y.download(fake);
            };
        };
        trial.add("whole_way", whole_way).on(fake, bench::host()).excerpt("kernel");
        trial.add("fetches_again", fetches).on(fake, bench::host()).excerpt("kernel");
        auto const on_host = twice.kernel(bench::host());
        trial.add("on_host", on_host).excerpt("kernel");
        // Computes, but leaves it where nobody looks.
        trial.add("forgets_to_fetch", stays).on(fake, bench::host()).excerpt("kernel");
        trial.run();
    });
    CHECK(outcome.code == 1);
    for (auto const* right : {"stays", "whole_way", "on_host"}) {
        CHECK(verdict_of(outcome.result, right) == "passed");
    }
    for (auto const* wrong : {"fetches", "fetches_again", "forgets_to_fetch"}) {
        auto const reason = verdict_of(outcome.result, wrong);
        CHECK(reason.find("100 of 100 elements are wrong; element 0 was not written") !=
              std::string::npos);
    }
    auto const one = cases_of(outcome.result, "whole_way").front();
    CHECK(one.at("target") == "fake");
    CHECK(one.at("results") == "host");
    CHECK(!cases_of(outcome.result, "stays").front().contains("results"));
}

TEST_CASE("a variant that does nothing while it is timed fails, though earlier calls are queued")
{
    FakeTarget fake;
    auto const outcome = measure_point({}, [&](bench::Trial& trial) {
        Twice const twice{trial};
        auto const lazy = [&](bench::Variant&) {
            return [&, compute = twice.queued(fake)] {
                if (!fake.is_timing) {
                    compute();
                    twice.y.download(fake);
                }
            };
        };
        trial.add("lazy", lazy).on(fake, bench::host()).excerpt("kernel");
        trial.run();
    });
    CHECK(outcome.code == 1);
    CHECK(verdict_of(outcome.result, "lazy").find("a timed call: 100 of 100") == 15);
}

TEST_CASE("every copy of every output is poisoned before each call that is checked or timed")
{
    for (auto const cache : {bench::Cache::cold, bench::Cache::warm}) {
        CAPTURE((cache == bench::Cache::cold));
        FakeTarget fake;
        FakeTarget other;
        FakeTarget bystander; // where no variant runs
        int calls = 0;
        int timed = 0;
        auto const outcome = measure_point({}, [&](bench::Trial& trial) {
            Twice const twice{trial};
            auto const on_bystander = twice.y.on(bystander);
            std::vector<double> own(3);
            trial.cache(cache);
            trial.on_reset([] {}); // one call is a sample
            // In a warm trial calls come before the timed one, which fill the caches.
            auto const check_poison = [&, on_bystander] {
                bool const was_timing = fake.is_timing || other.is_timing;
                if (trial.is_timed() && !was_timing && cache == bench::Cache::warm) {
                    return;
                }
                ++calls;
                timed += was_timing ? 1 : 0;
                other.finish();
                bystander.finish();
                CHECK(is_poisoned(twice.y.on()));
                CHECK(is_poisoned(twice.y.on(fake)));
                CHECK(is_poisoned(twice.y.on(other)));
                CHECK(is_poisoned(on_bystander));
                CHECK(is_poisoned(own));
            };
            auto const everywhere = [&](FakeTarget& where) {
                return [&, check_poison, compute = twice.kernel(where)] {
                    where.put([&, check_poison, compute] {
                        check_poison();
                        compute();
                        for (bench::Target* const at :
                             {&bench::host(), static_cast<bench::Target*>(&fake),
                              static_cast<bench::Target*>(&other),
                              static_cast<bench::Target*>(&bystander)}) {
                            std::ranges::fill(twice.y.on(*at), 1);
                        }
                        compute();
                    });
                };
            };
            auto const own_output = [&](bench::Variant& v) {
                v.output(std::span{own}).expect([] {
                    return bench::Expected{{1, 2, 3}, {0, 0, 0}};
                });
                return [&] { fake.put([&] { own = {1, 2, 3}; }); };
            };
            trial.add("own_output", own_output).on(fake, bench::host()).excerpt("kernel");
            auto const on_fake = [&](bench::Variant&) { return everywhere(fake); };
            trial.add("on_fake", on_fake).on(fake).excerpt("kernel");
            auto const on_other = [&](bench::Variant&) { return everywhere(other); };
            trial.add("on_other", on_other).on(other).excerpt("kernel");
            trial.run();
        });
        CHECK(outcome.code == 0);
        // Of two variants two calls in each check; in a warm trial those of the first are seen.
        CHECK(calls - timed >= (cache == bench::Cache::cold ? 8 : 4));
        CHECK(timed >= 2 * 3);
    }
}

/// The environment variable that says so, for as long as this lives.
struct Profiled
{
    explicit Profiled(std::string const& told) { ::setenv("MEMWALL_PROFILER", told.c_str(), 1); }
    ~Profiled() { ::unsetenv("MEMWALL_PROFILER"); }
    Profiled(Profiled const&) = delete;
    Profiled& operator=(Profiled const&) = delete;
};

TEST_CASE("a profiler is told of each sample, and of nothing around it")
{
    for (auto const cache : {bench::Cache::cold, bench::Cache::warm}) {
        CAPTURE((cache == bench::Cache::cold));
        FakeTarget fake;
        auto const body = [&](bench::Trial& trial) {
            Twice const twice{trial};
            trial.cache(cache);
            auto const on_fake = [&](bench::Variant&) { return twice.queued(fake); };
            trial.add("on_fake", on_fake).on(fake).excerpt("kernel");
            trial.run();
        };
        CHECK(measure_point({}, body).code == 0);
        CHECK(fake.times('<') + fake.times('>') == 0);
        fake.told.clear();

        Profiled const profiled{"ncu"};
        auto const outcome = measure_point({"--samples", "2"}, body);
        CHECK(outcome.code == 0);
        CHECK(outcome.result.at("cases").size() == 1); // no twins
        CHECK(fake.times('<') == 2);
        std::string counted = fake.told;
        for (std::size_t at = 0; (at = counted.find("<s>")) != std::string::npos;) {
            counted.erase(at, 3);
        }
        CHECK(counted.find_first_of("<>") == std::string::npos);
    }
}

TEST_CASE("on the host a profiler is told through open files, and answers")
{
    std::array<int, 2> told{};
    std::array<int, 2> answered{};
    REQUIRE((::pipe(told.data()) == 0 && ::pipe(answered.data()) == 0));
    std::string const answers{"ack\n\0ack\n\0", 10};
    REQUIRE(::write(answered[1], answers.data(), answers.size()) == 10);
    {
        Profiled const profiled{std::to_string(told[1]) + ',' + std::to_string(answered[0])};
        auto const outcome = measure_point({"--samples", "1"}, [&](bench::Trial& trial) {
            Twice const twice{trial};
            trial.add("on_host", twice.kernel(bench::host())).excerpt("kernel");
            trial.run();
        });
        CHECK(verdict_of(outcome.result, "on_host") == "passed");
    }
    ::close(told[1]);
    ::close(answered[1]);
    std::array<char, 64> text{};
    auto const length = ::read(told[0], text.data(), text.size());
    CHECK(std::string(text.data(), static_cast<std::size_t>(length)) == "enable\ndisable\n");
    CHECK(::read(answered[0], text.data(), text.size()) == 0); // each answer was waited for
    ::close(told[0]);
    ::close(answered[0]);
}

TEST_CASE("inputs get new values on every target that has a copy")
{
    FakeTarget fake;
    std::vector<std::vector<double>> seen;
    auto const outcome = measure_point({}, [&](bench::Trial& trial) {
        Twice const twice{trial};
        auto const setup = [&](bench::Variant&) {
            return [&, on_fake = twice.x.on(fake), compute = twice.queued(fake)] {
                fake.put([&, on_fake] {
                    CHECK(std::ranges::equal(on_fake, twice.x.on()));
                    if (seen.empty() || !std::ranges::equal(on_fake, seen.back())) {
                        seen.emplace_back(on_fake.begin(), on_fake.end());
                    }
                });
                compute();
            };
        };
        trial.add("on_fake", setup).on(fake).excerpt("kernel");
        trial.run();
    });
    CHECK(outcome.code == 0);
    CHECK(seen.size() == 2 + 2 + 1); // two calls in each check, and once while it is timed
}

TEST_CASE("operands of the caller are used where they lie")
{
    FakeTarget fake;
    std::vector<double> x(doubled_elements);
    auto const memory = fake.allocate(doubled_elements * sizeof(double));
    std::span const y{reinterpret_cast<double*>(memory.get()), doubled_elements};
    auto const outcome = measure_point({}, [&](bench::Trial& trial) {
        auto const in = trial.input(std::span{x});
        auto const out = trial.output(y, fake);
        CHECK(in.on().data() == x.data());
        CHECK(out.on(fake).data() == y.data());
        out.expect([&] { return bench::Expected{x, std::vector<double>(doubled_elements)}; });
        auto const copy = [&](bench::Variant&) {
            return [&, from = in.on(fake)] {
                fake.put([&, from] { std::ranges::copy(from, y.begin()); });
            };
        };
        trial.add("copy", copy).on(fake).excerpt("kernel");
        trial.run();
    });
    CHECK(outcome.code == 0);
}

TEST_CASE("whether data is cold is asked of the target where a variant runs")
{
    FakeTarget fake;
    fake.cache = 16 * doubled_elements - 1;
    auto const outcome = measure_point({}, [&](bench::Trial& trial) {
        Twice const twice{trial};
        CHECK(!trial.is_cold());
        CHECK(trial.is_cold(fake));
        trial.add("on_host", twice.kernel(bench::host())).excerpt("kernel");
        auto const on_fake = [&](bench::Variant&) { return twice.queued(fake); };
        trial.add("on_fake", on_fake).on(fake).excerpt("kernel");
        trial.run();
    });
    CHECK(outcome.code == 0);
    for (auto const& one : outcome.result.at("cases")) {
        bool const is_cold = one.at("target") == "fake";
        CHECK(one.at("cache") == (is_cold ? "cold" : "warm"));
        CHECK(one.at("clock") == (is_cold ? "fake-cold" : "host"));
        CHECK((one.at("iterations") == 1 || !is_cold));
    }
    CHECK(contenders_of(outcome.result, "fake") == 11);
    CHECK(fake.times('f') == 11 * 3);
}

TEST_CASE("caches may be chosen for one target, or for all")
{
    FakeTarget fake;
    FakeTarget other;
    fake.cache = 1;
    auto const outcome = measure_point({}, [&](bench::Trial& trial) {
        Twice const twice{trial};
        trial.cache(bench::Cache::warm);
        trial.cache(bench::Cache::cold, other);
        CHECK(!trial.is_cold(fake));
        CHECK(trial.is_cold(other));
        for (auto* const where : {&fake, &other}) {
            auto const setup = [&twice, where](bench::Variant&) { return twice.queued(*where); };
            trial.add(where == &fake ? "fake" : "other", setup).on(*where).excerpt("kernel");
        }
        trial.run();
    });
    CHECK(outcome.code == 0);
    CHECK(cases_of(outcome.result, "fake").front().at("cache") == "warm");
    CHECK(cases_of(outcome.result, "other").front().at("cache") == "cold");
    CHECK(fake.times('f') == 0);
    CHECK(other.times('f') == 11 * 3);
}

TEST_CASE("a cold trial flushes and times single calls, and wakes who works just before")
{
    FakeTarget fake;
    auto const outcome = measure({}, [&](bench::Experiment& experiment) {
        experiment.study("cold").on(fake).untyped([&](bench::Trial& trial) {
            Twice const twice{trial};
            trial.cache(bench::Cache::cold);
            CHECK(trial.is_cold());
            trial.add("on_fake", twice.queued(fake)).excerpt("kernel");
            trial.run();
        });
    });
    auto const one = cases_of(outcome.result, "on_fake").front();
    CHECK(one.at("target") == "fake");
    CHECK(one.at("cache") == "cold");
    CHECK(one.at("iterations") == 1);
    constexpr std::size_t samples = (1 + 20) * 3;
    CHECK(fake.times('f') == samples);
    std::size_t in_order = 0;
    for (auto at = fake.told.find("pfws"); at != std::string::npos;
         at = fake.told.find("pfws", at + 1)) {
        ++in_order;
    }
    CHECK(in_order == samples);
}

TEST_CASE("a clock of a variant's own is used in place of its target's")
{
    struct Given : bench::Clock
    {
        std::string name() const override { return "given"; }
        double seconds(std::function<void()> const& batch) override
        {
            batch();
            return 0.25;
        }
    };
    Given clock;
    FakeTarget fake;
    auto const outcome = measure_point({}, [&](bench::Trial& trial) {
        Twice const twice{trial};
        auto const setup = [&](bench::Variant&) { return twice.queued(fake); };
        trial.add("own_clock", setup).on(fake).clock(clock).excerpt("kernel");
        trial.run();
    });
    auto const one = cases_of(outcome.result, "own_clock").front();
    CHECK(one.at("clock") == "given");
    CHECK(one.at("samples_s") == std::vector<double>(3, 0.25));
    CHECK(one.at("setup").at("seconds") == 0.25);
    CHECK(fake.times('s') == 0);
}

TEST_CASE("what a missing target would do is skipped with the reason, and it is not touched")
{
    FakeTarget fake;
    fake.why_missing = "no fake device here";
    bench::Ceiling const pass{
        "read", {.bytes = 1}, [] { std::this_thread::sleep_for(std::chrono::milliseconds{2}); }};
    auto const declare = [&](bench::Experiment& experiment) {
        experiment.study("device")
            .on(fake)
            .axis("size", {std::int64_t{1}, std::int64_t{2}})
            .untyped([](bench::Trial&) { FAIL_CHECK("measured"); });
        experiment.study("mixed").untyped([&](bench::Trial& trial) {
            Twice const twice{trial};
            auto const setup = [](bench::Variant&) {
                FAIL_CHECK("prepared");
                return [] {};
            };
            trial.add("on_fake", setup).on(fake).excerpt("kernel").group("device");
            trial.add("to_fake", setup).on(bench::host(), fake).excerpt("kernel");
            trial.add("from_fake", setup).on(fake, bench::host()).excerpt("kernel");
            trial.add("on_host", twice.kernel(bench::host())).excerpt("kernel");
            trial.run();
        });
        experiment.ceiling(fake, [&] {
            FAIL_CHECK("made");
            return pass;
        });
        experiment.ceiling([&](int) { return pass; });
    };
    auto const outcome = measure({}, declare);
    CHECK(outcome.code == 0);
    CHECK(verdict_of(outcome.result, "on_host") == "passed");
    CHECK(contenders_of(outcome.result, "host") == outcome.result.at("cases").size());
    auto const& skipped = outcome.result.at("skipped");
    REQUIRE(skipped.size() == 2 + 3);
    for (auto const& one : skipped) {
        CHECK(one.at("reason") == "no fake device here");
    }
    CHECK(skipped.at(0).at("study") == "device");
    CHECK(skipped.at(0).at("parameters") == Json{{"size", 1}});
    CHECK(!skipped.at(0).contains("variant"));
    CHECK(skipped.at(2).at("study") == "mixed");
    CHECK(skipped.at(2).at("variant") == "on_fake");
    CHECK(skipped.at(2).at("group") == "device");
    auto const& ceilings = outcome.result.at("ceilings");
    CHECK(!ceilings.empty());
    for (auto const& one : ceilings) {
        CHECK(one.at("target") == "host");
    }

    CHECK(measure({"--list"}, declare).code == 0);
    CHECK(measure({"--later"}, declare).code == 0);
    CHECK(fake.touched == 0);
}

TEST_CASE("an experiment whose usual target is missing skips everything, and says why")
{
    struct Missing : bench::testing::ListeningHost
    {
        std::string missing() const override { return "no ranks here"; }
    };
    Missing usual;
    auto const outcome = measure(
        {},
        [](bench::Experiment& experiment) {
            experiment.study("any").untyped([](bench::Trial&) { FAIL_CHECK("measured"); });
            experiment.ceiling([](int) {
                FAIL_CHECK("made");
                return bench::Ceiling{};
            });
        },
        usual);
    CHECK(outcome.code == 0);
    CHECK(outcome.result.at("cases").empty());
    CHECK(outcome.result.at("ceilings").empty());
    CHECK(outcome.result.at("skipped").size() == 1);
}
