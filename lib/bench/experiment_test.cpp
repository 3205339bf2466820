#include "bench/experiment_test.hpp"

#include "bench/provenance.hpp"
#include "bench/statistics.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using bench::testing::CommandLine;
using bench::testing::Folder;
using bench::testing::read;
using Json = nlohmann::json;

constexpr std::array<bench::Excerpt, 1> excerpts{
    {{"kernel", "lib/bench/experiment_test.cpp", "the text that ran\n"}}};
std::array<bench::ObjectFlags, 1> objects{{{"a.o", "lib/bench/experiment_test.cpp", "-O3"}}};

/// y[i] = weights[i] * x[i], except that the last element sums a long row of products.
template <class T>
struct Product
{
    static constexpr std::size_t rows = 33;
    static constexpr std::size_t long_row = 100'000;

    Product(bench::Fill const& fill, std::span<T const> operand) : weights(long_row), x{operand}
    {
        fill(std::span<T>{weights});
    }

    T last(std::size_t products) const
    {
        return std::inner_product(weights.begin(),
                                  weights.begin() + static_cast<std::ptrdiff_t>(products),
                                  x.begin(), T{0});
    }

    void operator()(std::span<T> y, std::size_t written = rows,
                    std::size_t products = long_row) const
    {
        for (std::size_t i = 0; i < std::min(written, rows - 1); ++i) {
            y[i] = weights[i] * x[i];
        }
        if (written == rows) {
            y[rows - 1] = last(products);
        }
    }

    bench::Expected expected() const
    {
        bench::Expected result;
        for (std::size_t i = 0; i < rows - 1; ++i) {
            result.value.push_back(static_cast<double>(weights[i]) * static_cast<double>(x[i]));
            result.bound.push_back(1e-6 * std::abs(result.value.back()));
        }
        double sum = 0;
        for (std::size_t i = 0; i < long_row; ++i) {
            sum += static_cast<double>(weights[i]) * static_cast<double>(x[i]);
        }
        result.value.push_back(sum);
        result.bound.push_back(long_row * 1e-6 * long_row);
        return result;
    }

    std::vector<T> weights;
    std::span<T const> x;
};

/// Runs one experiment with the sound kernel and whatever `add` adds.
template <class Add>
int run(std::string const& output, std::vector<std::string> arguments, Add add)
{
    CommandLine line{output, std::move(arguments)};
    bench::Experiment experiment{"self-test", line.argc(), line.argv()};
    experiment.axis("size", {std::int64_t{1}, std::int64_t{2}});
    return experiment.each<float, double>(
        [&]<class T>(bench::Point const& at, bench::Trial<T>& trial) {
            auto const x = trial.input(Product<T>::long_row);
            Product<T> const product{trial.fill(), x};
            std::vector<T> y(Product<T>::rows);
            trial.work({.flops = 2.0 * Product<T>::long_row, .bytes = 8.0 * Product<T>::long_row});
            trial.output(y);
            trial.expect([&] { return product.expected(); });
            trial.add("sound", [&] { product(y); }).excerpt("kernel");
            add(at, trial, product, y);
            trial.run();
        });
}

Json cases_of(Json const& result, std::string const& variant)
{
    Json found = Json::array();
    for (auto const& one : result.at("cases")) {
        if (one.at("variant") == variant && !one.at("twin").get<bool>()) {
            found.push_back(one);
        }
    }
    return found;
}

/// Adds `make(product, y)` as "broken" and returns why it failed at the first point.
template <class Make>
std::string failure_of(Make make)
{
    Folder const folder;
    auto const output = folder.file("result.json");
    auto const code = run(output, {}, [&](auto const&, auto& trial, auto const& product, auto& y) {
        trial.add("broken", make(product, y)).excerpt("kernel");
    });
    CHECK(code == 1);
    auto const result = read(output);
    for (auto const& sound : cases_of(result, "sound")) {
        CHECK(sound.at("verdict").at("status") == "passed");
        CHECK(sound.at("samples_s").size() == 3);
    }
    auto const broken = cases_of(result, "broken");
    REQUIRE(broken.size() == 4);
    for (auto const& one : broken) {
        CHECK(one.at("verdict").at("status") == "failed");
        CHECK(one.at("samples_s").empty());
        CHECK(one.at("iterations") == 0);
    }
    return broken.front().at("verdict").at("reason");
}

/// Runs an experiment of one point, described by `body(trial)`; its first case.
template <class Body>
Json only_point(std::vector<std::string> arguments, Body body)
{
    Folder const folder;
    auto const output = folder.file("result.json");
    CommandLine line{output, std::move(arguments)};
    bench::Experiment experiment{"self-test", line.argc(), line.argv()};
    REQUIRE(experiment.each<double>([&](auto const&, auto& trial) { body(trial); }) == 0);
    return read(output).at("cases").front();
}

constexpr auto nothing_more = [](auto const&, auto&, auto const&, auto&) {};

} // namespace

bench::Provenance const& bench::provenance()
{
    static Provenance const built{"unknown", false, "test", "release", excerpts, objects};
    return built;
}

TEST_CASE("a do-nothing kernel fails")
{
    auto const reason = failure_of([](auto const&, auto&) { return [] {}; });
    CHECK(reason.find("exact check, call 1: 33 of 33 elements are wrong") == 0);
    CHECK(reason.find("not written") != std::string::npos);
}

TEST_CASE("a kernel that writes NaN fails")
{
    failure_of([](auto const&, auto& y) { return [&y] { y.assign(y.size(), std::nanf("")); }; });
}

TEST_CASE("a kernel that is right only on its first call fails")
{
    auto const reason = failure_of([](auto const& product, auto& y) {
        return [&, calls = 0]() mutable { product(y, calls++ == 0 ? product.rows : 1); };
    });
    CHECK(reason.find("call 2") != std::string::npos);
}

TEST_CASE("a kernel that is right until it is timed fails")
{
    auto const reason = failure_of([](auto const& product, auto& y) {
        return [&, calls = 0]() mutable { product(y, calls++ < 2 ? product.rows : 1); };
    });
    CHECK(reason.find("a timed call") != std::string::npos);
}

TEST_CASE("a kernel that writes an element too few fails")
{
    auto const reason = failure_of(
        [](auto const& product, auto& y) { return [&] { product(y, product.rows - 1); }; });
    CHECK(reason.find("1 of 33 elements are wrong; element 32 was not written") !=
          std::string::npos);
}

TEST_CASE("a kernel that drops one product in a row of 100,000 fails, though within the bound")
{
    auto const reason = failure_of([](auto const& product, auto& y) {
        return [&] { product(y, product.rows, product.long_row - 1); };
    });
    CHECK(reason.find("exact check") == 0);
    CHECK(reason.find("element 32") != std::string::npos);
}

TEST_CASE("a kernel that replays its last result fails")
{
    auto const reason = failure_of([](auto const& product, auto& y) {
        return [&, last = y, known = false]() mutable {
            if (!known) {
                product(y);
                last = y;
                known = true;
            }
            y = last;
        };
    });
    CHECK(reason.find("call 2") != std::string::npos);
}

TEST_CASE("a kernel or a setup that throws fails and the trial goes on")
{
    auto const reason = failure_of(
        [](auto const&, auto&) { return [] { throw std::runtime_error{"no such device"}; }; });
    CHECK(reason == "exact check, call 1 threw: no such device");
    failure_of([](auto const& product, auto& y) {
        return [&](bench::Setup&) {
            throw std::runtime_error{"does not fit"};
            return [&] { product(y); };
        };
    });
}

struct Format
{
    std::size_t bytes() const { return 1234; }
};

TEST_CASE("a result holds what was measured")
{
    Folder const folder;
    auto const output = folder.file("deep/er/result.json");
    auto const add = [](auto const&, auto& trial, auto const& product, auto& y) {
        trial.dataset("some/folder/matrix.mtx.gz", std::string(64, 'a'), {{"rows", 3}});
        trial.skip("foreign", "not installed").group("peer");
        trial
            .add("formatted",
                 [&](bench::Setup& setup) {
                     setup.count("messages", 12);
                     setup.note("packed, as rows are short");
                     setup.reads(Format{});
                     return [&, kept = setup.keep(Format{})] { product(y); };
                 })
            .excerpt("kernel")
            .group("format");
    };
    REQUIRE(run(output, {"--samples", "5"}, add) == 0);
    auto const result = read(output);
    CHECK(result.at("schema") == 1);
    CHECK(result.at("run").at("rounds") == 5);
    CHECK(result.at("run").at("arguments").dump().find("result.json") == std::string::npos);
    CHECK(result.at("excerpts").at("kernel").at("text") == "the text that ran\n");
    CHECK(result.at("datasets").at("matrix").at("features").at("rows") == 3);
    auto const formatted = cases_of(result, "formatted");
    REQUIRE(formatted.size() == 4);
    for (auto const& one : formatted) {
        CHECK(one.at("group") == "format");
        CHECK(one.at("samples_s").size() == 5);
        CHECK(one.at("iterations") >= 1);
        CHECK(one.at("cache") == "warm");
        CHECK(one.at("clock") == "host");
        CHECK(one.at("setup").at("stored_bytes") == 1234);
        CHECK(one.at("setup").at("operand_bytes") == 1234);
        CHECK(one.at("setup").at("counts") == Json{{"messages", 12}});
        CHECK(one.at("setup").at("notes") == Json::array({"packed, as rows are short"}));
        CHECK(one.at("verdict").at("checks") == Json{"exact", "bounded"});
        CHECK(one.at("verdict").at("error") <= 1);
    }
    CHECK(formatted.front().at("parameters") == Json{{"size", 1}, {"precision", "fp32"}});
    CHECK(result.at("skipped").size() == 4);
    CHECK(result.at("skipped").front().at("reason") == "not installed");
    CHECK(!std::filesystem::exists(output + ".journal"));
}

TEST_CASE("an experiment has at least twenty A/A pairs, over all its variants")
{
    Folder const folder;
    auto const output = folder.file("result.json");
    REQUIRE(run(output, {}, nothing_more) == 0);
    CHECK(read(output).at("cases").size() == 4 + 20);
    auto const add = [](auto const&, auto& trial, auto const& product, auto& y) {
        for (auto const* name : {"a", "b", "c", "d", "e", "f"}) {
            trial.add(name, [&] { product(y); }).excerpt("kernel");
        }
    };
    REQUIRE(run(output, {}, add) == 0);
    int twins = 0;
    std::set<std::string> names;
    auto const result = read(output);
    for (auto const& one : result.at("cases")) {
        if (one.at("twin").get<bool>()) {
            ++twins;
            names.insert(one.at("variant"));
        }
    }
    CHECK(twins == 20);
    CHECK(names.size() == 7);
}

TEST_CASE("a run that died goes on behind the points of its journal")
{
    Folder const folder;
    auto const output = folder.file("result.json");
    std::ofstream{output} << "an earlier result";
    int bodies = 0;
    auto const dies_at = [&](std::int64_t size) {
        return [&, size](bench::Point const& at, auto&, auto const&, auto&) {
            ++bodies;
            if (at.integer("size") == size) {
                throw std::runtime_error{"power cut"};
            }
        };
    };
    CHECK(run(output, {}, dies_at(2)) == 2);
    CHECK(bodies == 5);
    CHECK(std::filesystem::file_size(output) == std::string{"an earlier result"}.size());

    std::ofstream{output + ".journal", std::ios::app} << "{\"key\": \"cut o";
    bodies = 0;
    CHECK(run(output, {}, dies_at(99)) == 0);
    CHECK(bodies == 4);
    CHECK(cases_of(read(output), "sound").size() == 4);

    CHECK(run(output, {}, dies_at(2)) == 2);
    bodies = 0;
    CHECK(run(output, {"--seed", "7"}, dies_at(99)) == 0);
    CHECK(bodies == 8);
}

TEST_CASE("more samples for an earlier run need no second exact check, but a check")
{
    Folder const folder;
    auto const output = folder.file("result.json");
    auto const code = run(output, {"--again"}, [&](auto const&, auto& trial, auto const&, auto&) {
        CHECK(trial.is_timed());
        CHECK(trial.only_adds_samples());
        trial.add("broken", [] {}).excerpt("kernel");
    });
    CHECK(code == 1);
    auto const result = read(output);
    for (auto const& sound : cases_of(result, "sound")) {
        CHECK(sound.at("verdict").at("checks") == Json{"bounded"});
        CHECK(sound.at("samples_s").size() == 3);
    }
    for (auto const& broken : cases_of(result, "broken")) {
        CHECK(broken.at("verdict").at("status") == "failed");
    }
}

TEST_CASE("options choose what is measured")
{
    Folder const folder;
    auto const output = folder.file("result.json");
    auto const add = [](auto const&, auto& trial, auto const& product, auto& y) {
        trial.add("second", [&] { product(y); }).excerpt("kernel");
    };
    REQUIRE(run(output, {"--filter", "^sec", "--size", "7", "--precision", "fp64"}, add) == 0);
    auto const result = read(output);
    CHECK(cases_of(result, "sound").empty());
    REQUIRE(cases_of(result, "second").size() == 1);
    CHECK(cases_of(result, "second").front().at("parameters").at("size") == 7);

    std::filesystem::remove(output);
    CHECK(run(output, {"--list"}, add) == 0);
    CHECK(run(output, {"--help"}, add) == 0);
    CHECK(run(output, {"--samples", "0"}, add) == 2);
    CHECK(run(output, {"--filter", "("}, add) == 2);
    CHECK(run(output, {"--size", "seven"}, add) == 2);
    CHECK(run(output, {"--size", "7", "7"}, add) == 2);
    CHECK(run(output, {"--no-such-option"}, add) == 2);
    CHECK(!std::filesystem::exists(output));
}

TEST_CASE("a variant without a marked text is refused")
{
    Folder const folder;
    auto const output = folder.file("result.json");
    auto const add = [](auto const&, auto& trial, auto const&, auto&) { trial.add("bare", [] {}); };
    CHECK(run(output, {}, add) == 2);
    CHECK(!std::filesystem::exists(output));
}

TEST_CASE("a point that does not apply is recorded with its reason")
{
    Folder const folder;
    auto const output = folder.file("result.json");
    auto const add = [](bench::Point const& at, auto& trial, auto const&, auto&) {
        if (at.integer("size") == 2) {
            trial.not_applicable("too large");
        }
    };
    REQUIRE(run(output, {}, add) == 0);
    auto const result = read(output);
    CHECK(cases_of(result, "sound").size() == 2);
    REQUIRE(result.at("skipped").size() == 2);
    CHECK(result.at("skipped").front().at("reason") == "too large");
}

TEST_CASE("a variant that is not made for its inputs is skipped with its reason")
{
    Folder const folder;
    auto const output = folder.file("result.json");
    auto const add = [](bench::Point const& at, auto& trial, auto const& product, auto& y) {
        auto const small_only = [&at, &product, &y](bench::Setup& setup) {
            if (at.integer("size") == 2) {
                setup.not_applicable("too large");
            }
            return [&product, &y] { product(y); };
        };
        trial.add("small_only", small_only).excerpt("kernel").group("format");
    };
    REQUIRE(run(output, {}, add) == 0);
    auto const result = read(output);
    CHECK(cases_of(result, "small_only").size() == cases_of(result, "sound").size() / 2);
    REQUIRE(result.at("skipped").size() == 2);
    CHECK(result.at("skipped").front().at("variant") == "small_only");
    CHECK(result.at("skipped").front().at("group") == "format");
    CHECK(result.at("skipped").front().at("reason") == "too large");
}

TEST_CASE("operands changed in place are restored, and operand sets rotate")
{
    auto const one = only_point({}, [](auto& trial) {
        constexpr std::size_t sets = 3;
        auto const x = trial.input(sets * 4);
        std::vector<double> y(sets * 4);
        std::vector<double> in_place(sets * 4);
        std::set<std::size_t> seen;
        trial.work({.flops = 12, .bytes = 96});
        trial.operand_sets(sets);
        trial.output(y);
        trial.on_reset([&] { in_place.assign(x.begin(), x.end()); });
        trial.expect([&] {
            bench::Expected expected{{x.begin(), x.end()}, std::vector<double>(x.size(), 0.0)};
            for (auto& value : expected.value) {
                value *= 2;
            }
            return expected;
        });
        trial
            .add("rotating",
                 [&](std::size_t set) {
                     for (std::size_t i = 4 * set; i < 4 * set + 4; ++i) {
                         y[i] = 2 * x[i];
                     }
                     seen.insert(set);
                 })
            .excerpt("kernel");
        trial.run();
        CHECK(seen.size() == sets);
    });
    CHECK(one.at("iterations").get<int>() % 3 == 0);
    CHECK(one.at("parameters").empty());
}

TEST_CASE("an operand of the caller gets new values, and operations are recorded")
{
    auto const one = only_point({}, [](auto& trial) {
        std::vector<double> x(4);
        std::vector<double> y(4);
        std::set<std::vector<double>> seen;
        trial.input(std::span<double>{x});
        trial.work({.operations = 4});
        trial.output(y);
        trial.expect([&] { return bench::Expected{x, std::vector<double>(x.size())}; });
        auto const copy = [&] {
            y = x;
            seen.insert(x);
        };
        trial.add("copy", copy).excerpt("kernel");
        trial.run();
        CHECK(seen.size() >= 2);
    });
    CHECK(one.at("work").at("operations").get<double>() == 4);
}

TEST_CASE("a cold trial flushes and times single calls")
{
    Folder const folder;
    auto const output = folder.file("result.json");
    int flushes = 0;
    auto const add = [&](auto const&, auto& trial, auto const&, auto&) {
        trial.cache(bench::Cache::cold);
        trial.flush_with([&] { ++flushes; });
    };
    REQUIRE(run(output, {"--size", "1", "--precision", "fp32"}, add) == 0);
    auto const one = cases_of(read(output), "sound").front();
    CHECK(one.at("cache") == "cold");
    CHECK(one.at("iterations") == 1);
    CHECK(flushes == (1 + 20) * 3);
}

TEST_CASE("a sample holds as many calls as fill it at the pace of calls in a row")
{
    /// A batch that lasts 7 us, and 1 us for each of its calls.
    struct Starting : bench::HostClock
    {
        explicit Starting(int& counted) : calls{&counted} {}
        double seconds(std::function<void()> const& batch) override
        {
            int const before = *calls;
            batch();
            return 1e-6 * (7 + *calls - before);
        }
        int* calls;
    };
    int calls = 0;
    auto const one = only_point({"--min-time", "1e-3"}, [&](auto& trial) {
        std::vector<double> y(1);
        auto const x = trial.input(1);
        trial.work({.operations = 1});
        trial.output(y);
        trial.expect([&] { return bench::Expected{{x[0]}, {0.0}}; });
        trial.clock(std::make_unique<Starting>(calls));
        trial
            .add("counted",
                 [&] {
                     y[0] = x[0];
                     ++calls;
                 })
            .excerpt("kernel");
        trial.run();
    });
    // One call takes 8 us: 125 would do, and 31 are tried. These take 38 us: 816 would do.
    CHECK(one.at("iterations") == 816);
}

TEST_CASE("a clock is told to wake who works, after caches were emptied and before each sample")
{
    struct Sleepy : bench::HostClock
    {
        explicit Sleepy(std::string& told) : events{&told} {}
        void wake() override { *events += 'w'; }
        double seconds(std::function<void()> const& batch) override
        {
            *events += 's';
            return HostClock::seconds(batch);
        }
        std::string* events;
    };
    Folder const folder;
    std::string events;
    auto const add = [&](auto const&, auto& trial, auto const&, auto&) {
        trial.cache(bench::Cache::cold);
        trial.flush_with([&] { events += 'f'; });
        trial.clock(std::make_unique<Sleepy>(events));
    };
    REQUIRE(run(folder.file("result.json"), {"--size", "1", "--precision", "fp32"}, add) == 0);
    std::size_t samples = 0;
    for (auto at = events.find("fws"); at != std::string::npos; at = events.find("fws", at + 1)) {
        ++samples;
    }
    CHECK(samples > 0);
    CHECK(samples == static_cast<std::size_t>(std::ranges::count(events, 'f')));
}

TEST_CASE("waking threads ends, with more of them than processors too")
{
    bench::HostClock clock;
    int const usual = omp_get_max_threads();
    for (int const threads : {1, 2, 3, 64}) {
        omp_set_num_threads(threads);
        clock.wake();
        CHECK(clock.seconds([] {}) >= 0);
    }
    omp_set_num_threads(usual);
}

TEST_CASE("device code that was built for debugging is not timed")
{
    Folder const folder;
    auto const output = folder.file("result.json");
    CommandLine line{output, {}};
    bench::Experiment experiment{"self-test", line.argc(), line.argv()};
    objects[0].flags = "-O0 -G -std=c++20";
    auto const code = experiment.each<double>(
        [](bench::Point const&, bench::Trial<double>& trial) { trial.not_applicable("nothing"); });
    objects[0].flags = "-O3";
    CHECK(code == 2);
    CHECK(!std::filesystem::exists(output));
}

TEST_CASE("the median of an even and an odd number of samples")
{
    CHECK(bench::median({3, 1, 2}) == 2);
    CHECK(bench::median({4, 1, 2, 3}) == 2.5);
    CHECK(bench::median({7}) == 7);
}
