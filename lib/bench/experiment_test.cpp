#include "bench/experiment_test.hpp"
#include "bench/record.hpp"
#include "bench/settings.hpp"

#include <doctest/doctest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace std::string_literals;
using bench::testing::cases_of;
using bench::testing::Folder;
using bench::testing::Json;
using bench::testing::measure;
using bench::testing::measure_in;
using bench::testing::measure_point;
using bench::testing::Outcome;

/// y[i] = weights[i] * x[i], except that the last element sums a long row of products.
template <class T>
struct Product
{
    static constexpr std::size_t rows = 33;
    static constexpr std::size_t long_row = 100'000;

    explicit Product(bench::Trial& trial)
        : weights(long_row), x{trial.input<T>(long_row)}, output{trial.output<T>(rows)}, y{output}
    {
        trial.fill()(std::span<T>{weights});
        trial.work({.flops = 2.0 * long_row, .bytes = 8.0 * long_row});
        output.expect([this] { return expected(); });
    }

    T last(std::size_t products) const
    {
        return std::inner_product(weights.data(), weights.data() + products, x.data(), T{0});
    }

    void operator()(std::size_t written = rows, std::size_t products = long_row) const
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
    bench::Output<T> output;
    std::span<T> y;
};

/// Runs one experiment with the sound kernel and whatever `add` adds.
template <class Add>
Outcome run_in(Folder const& folder, std::vector<std::string> const& arguments, Add add)
{
    return measure_in(folder, arguments, [&](bench::Experiment& experiment) {
        experiment.study("products")
            .axis("size", {std::int64_t{1}, std::int64_t{2}})
            .types<float, double>([&]<class T>(bench::Trial& trial) {
                Product<T> const product{trial};
                trial.add("sound", [&] { product(); }).excerpt("kernel");
                add(trial, product);
                trial.run();
            });
    });
}

template <class Add>
Outcome run(std::vector<std::string> const& arguments, Add add)
{
    return run_in(Folder{}, arguments, add);
}

/// Adds `make(product)` as "broken" and returns why it failed at the first point.
template <class Make>
std::string failure_of(Make make)
{
    auto const outcome = run({}, [&](auto& trial, auto const& product) {
        trial.add("broken", make(product)).excerpt("kernel");
    });
    CHECK(outcome.code == 1);
    for (auto const& sound : cases_of(outcome.result, "sound")) {
        CHECK(sound.at("verdict").at("status") == "passed");
        CHECK(sound.at("samples_s").size() == 3);
    }
    auto const broken = cases_of(outcome.result, "broken");
    REQUIRE(broken.size() == 4);
    for (auto const& one : broken) {
        CHECK(one.at("verdict").at("status") == "failed");
        CHECK(one.at("samples_s").empty());
        CHECK(one.at("iterations") == 0);
    }
    return broken.front().at("verdict").at("reason");
}

constexpr auto nothing_more = [](auto&, auto const&) {};

} // namespace

TEST_CASE("a do-nothing kernel fails")
{
    auto const reason = failure_of([](auto const&) { return [] {}; });
    CHECK(reason.find("exact check, call 1: 33 of 33 elements are wrong") == 0);
    CHECK(reason.find("not written") != std::string::npos);
}

TEST_CASE("a kernel that writes NaN fails")
{
    failure_of(
        [](auto const& product) { return [&] { std::ranges::fill(product.y, std::nanf("")); }; });
}

TEST_CASE("a kernel that is right only on its first call fails")
{
    auto const reason = failure_of([](auto const& product) {
        return [&, calls = 0]() mutable { product(calls++ == 0 ? product.rows : 1); };
    });
    CHECK(reason.find("call 2") != std::string::npos);
}

TEST_CASE("a kernel that is right until it is timed fails")
{
    auto const reason = failure_of([](auto const& product) {
        return [&, calls = 0]() mutable { product(calls++ < 2 ? product.rows : 1); };
    });
    CHECK(reason.find("a timed call") != std::string::npos);
}

TEST_CASE("a kernel that writes an element too few fails")
{
    auto const reason =
        failure_of([](auto const& product) { return [&] { product(product.rows - 1); }; });
    CHECK(reason.find("1 of 33 elements are wrong; element 32 was not written") !=
          std::string::npos);
}

TEST_CASE("a kernel that drops one product in a row of 100,000 fails, though within the bound")
{
    auto const reason = failure_of(
        [](auto const& product) { return [&] { product(product.rows, product.long_row - 1); }; });
    CHECK(reason.find("exact check") == 0);
    CHECK(reason.find("element 32") != std::string::npos);
}

TEST_CASE("a kernel that replays its last result fails")
{
    auto const reason = failure_of([](auto const& product) {
        return
            [&, last = std::vector(product.y.begin(), product.y.end()), known = false]() mutable {
                if (!known) {
                    product();
                    last.assign(product.y.begin(), product.y.end());
                    known = true;
                }
                std::ranges::copy(last, product.y.begin());
            };
    });
    CHECK(reason.find("call 2") != std::string::npos);
}

TEST_CASE("a kernel or a setup that throws fails and the trial goes on")
{
    auto const reason =
        failure_of([](auto const&) { return [] { throw std::runtime_error{"no such device"}; }; });
    CHECK(reason == "exact check, call 1 threw: no such device");
    failure_of([](auto const& product) {
        return [&](bench::Variant&) {
            throw std::runtime_error{"does not fit"};
            return [&] { product(); };
        };
    });
}

struct Format
{
    std::size_t bytes() const { return 1234; }
};

TEST_CASE("a result holds what was measured")
{
    auto const outcome = run({"--samples", "5"}, [](auto& trial, auto const& product) {
        trial.dataset("some/folder/matrix.mtx.gz", std::string(64, 'a'), {{"rows", 3}});
        trial.skip("foreign", "not installed").group("peer");
        trial
            .add("formatted",
                 [&](bench::Variant& v) {
                     v.count("messages", 12);
                     v.note("packed, as rows are short");
                     v.reads(Format{});
                     return [&, kept = v.keep(Format{})] { product(); };
                 })
            .excerpt("kernel")
            .group("format");
    });
    REQUIRE(outcome.code == 0);
    auto const& result = outcome.result;
    CHECK(result.at("schema") == 2);
    CHECK(result.at("run").at("rounds") == 5);
    CHECK(result.at("run").at("arguments").dump().find("result.json") == std::string::npos);
    CHECK(result.at("excerpts").at("kernel").at("text") == "the text that ran\n");
    CHECK(result.at("datasets").at("matrix").at("features").at("rows") == 3);
    auto const formatted = cases_of(result, "formatted");
    REQUIRE(formatted.size() == 4);
    for (auto const& one : formatted) {
        CHECK(one.at("study") == "products");
        CHECK(one.at("target") == "host");
        CHECK(!one.contains("results"));
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
    CHECK(outcome.files == std::vector{"result.json"s});
}

TEST_CASE("a result may lie in a folder that is not there yet")
{
    Folder const folder;
    bench::testing::CommandLine line{folder.file("deep/er/result.json"), {}};
    bench::Experiment experiment{"self-test", line.argc(), line.argv()};
    experiment.study("none").untyped([](bench::Trial& trial) { trial.not_applicable("nothing"); });
    CHECK(experiment.run() == 0);
    CHECK(std::filesystem::exists(folder.file("deep/er/result.json")));
}

TEST_CASE("an experiment has at least twenty A/A pairs, over all its variants")
{
    CHECK(run({}, nothing_more).result.at("cases").size() == 4 + 20);
    auto const outcome = run({}, [](auto& trial, auto const& product) {
        for (auto const* name : {"a", "b", "c", "d", "e", "f"}) {
            trial.add(name, [&] { product(); }).excerpt("kernel");
        }
    });
    int twins = 0;
    std::set<std::string> names;
    for (auto const& one : outcome.result.at("cases")) {
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
    std::ofstream{output} << "\"an earlier result\"";
    int bodies = 0;
    auto const dies_at = [&](std::int64_t size) {
        return [&, size](bench::Trial& trial, auto const&) {
            ++bodies;
            if (trial.integer("size") == size) {
                throw std::runtime_error{"power cut"};
            }
        };
    };
    auto const died = run_in(folder, {}, dies_at(2));
    CHECK(died.code == 2);
    CHECK(died.result == "an earlier result");
    CHECK(bodies == 5);

    std::ofstream{output + ".journal", std::ios::app} << "{\"key\": \"cut o";
    bodies = 0;
    auto const went_on = run_in(folder, {}, dies_at(99));
    CHECK(went_on.code == 0);
    CHECK(bodies == 4);
    CHECK(cases_of(went_on.result, "sound").size() == 4);

    CHECK(run_in(folder, {}, dies_at(2)).code == 2);
    bodies = 0;
    CHECK(run_in(folder, {"--seed", "7"}, dies_at(99)).code == 0);
    CHECK(bodies == 8);
}

TEST_CASE("a run that goes on names the libraries that its first points loaded")
{
    Folder const folder;
    auto const measure_until = [&](std::int64_t last) {
        return measure_in(folder, {}, [&](bench::Experiment& experiment) {
            experiment.study("products")
                .axis("size", {std::int64_t{1}, std::int64_t{2}})
                .types<double>([&]<class T>(bench::Trial& trial) {
                    if (trial.integer("size") == 1) {
                        experiment.library("rival", "1.2");
                    }
                    Product<T> const product{trial};
                    trial.add("sound", [&] { product(); }).excerpt("kernel");
                    trial.run();
                    if (trial.integer("size") > last) {
                        throw std::runtime_error{"power cut"};
                    }
                });
        });
    };
    CHECK(measure_until(1).code == 2);
    auto const went_on = measure_until(2);
    CHECK(went_on.code == 0);
    CHECK(went_on.result.at("libraries").at("rival") == "1.2");
}

TEST_CASE("of the points that a file lists more is measured, of no other")
{
    Folder const folder;
    auto const file = folder.file("points.json");
    std::ofstream{file} << R"([{"parameters": {"precision": "fp64"}, "study": "kernels"},)"
                        << R"( {"study": "elsewhere", "parameters": {"precision": "fp32"}}])";
    auto const measured = [&](std::string const& points) {
        return measure({"--points", points}, [](bench::Experiment& experiment) {
            experiment.study("kernels").types<float, double>([]<class T>(bench::Trial& trial) {
                auto const y = trial.output<T>(1);
                y.expect([] { return bench::Expected{{1}, {0}}; });
                trial.add("sound", [to = y.on()] { to[0] = 1; }).excerpt("kernel");
                trial.run();
            });
        });
    };
    auto const cases = cases_of(measured(file).result, "sound");
    REQUIRE(cases.size() == 1);
    CHECK(cases[0].at("parameters").at("precision") == "fp64");
    std::ofstream{file} << "nothing of the kind";
    CHECK(measured(file).code == 2);
}

TEST_CASE("more samples for an earlier run need no second exact check, but a check")
{
    auto const outcome = run({"--again"}, [](auto& trial, auto const&) {
        CHECK(trial.is_timed());
        CHECK(trial.only_adds_samples());
        CHECK(trial.is_test());
        trial.add("broken", [] {}).excerpt("kernel");
    });
    CHECK(outcome.code == 1);
    for (auto const& sound : cases_of(outcome.result, "sound")) {
        CHECK(sound.at("verdict").at("checks") == Json{"bounded"});
        CHECK(sound.at("samples_s").size() == 3);
    }
    for (auto const& broken : cases_of(outcome.result, "broken")) {
        CHECK(broken.at("verdict").at("status") == "failed");
    }
}

TEST_CASE("where no variant runs that is said, unless another process may measure something")
{
    auto const nothing = [](bench::Experiment& experiment) {
        experiment.study("main").untyped([](bench::Trial& trial) { trial.run(); });
    };
    CHECK(bench::testing::refused({}, nothing).find("no variant runs with ") != std::string::npos);
    for (auto const* option : {"--again", "--later"}) {
        auto const outcome = measure({option}, nothing);
        CHECK(outcome.code == 0);
        CHECK(outcome.result.at("cases").empty());
    }
}

TEST_CASE("names of files are text, whatever they hold")
{
    auto const shown = [](char const* name) { return bench::to_text(std::string{name}); };
    CHECK(shown("/home/me/a\x1b[2Jb.mtx") == "a\\x1b[2Jb");
    CHECK(shown("a\nb") == "a\\x0ab");
    CHECK(shown("/x/\xff.mtx.gz") == "\\xff"); // no UTF-8: JSON could not hold it
    CHECK(shown("/x/fem3d mid.mtx") == "fem3d mid");
}

TEST_CASE("options choose what is measured")
{
    auto const add = [](auto& trial, auto const& product) {
        trial.add("second", [&] { product(); }).excerpt("kernel");
    };
    auto const chosen = run({"--filter", "^sec", "--size", "7", "--precision", "fp64"}, add);
    REQUIRE(chosen.code == 0);
    CHECK(cases_of(chosen.result, "sound").empty());
    REQUIRE(cases_of(chosen.result, "second").size() == 1);
    CHECK(cases_of(chosen.result, "second").front().at("parameters") ==
          Json{{"size", 7}, {"precision", "fp64"}});

    using Words = std::vector<std::string>;
    for (auto const& words :
         {Words{"--list"}, Words{"--help"}, Words{"--samples", "0"}, Words{"--filter", "("},
          Words{"--size", "seven"}, Words{"--size", "7", "7"}, Words{"--precision", "fp16"},
          Words{"--no-such-option"}}) {
        CAPTURE(words.front());
        auto const outcome = run(words, add);
        bool const is_asked_to_tell = words.front() == "--list" || words.front() == "--help";
        CHECK(outcome.code == (is_asked_to_tell ? 0 : 2));
        CHECK(outcome.files.empty());
    }
}

TEST_CASE("a variant without a marked text is refused")
{
    auto const reason = bench::testing::refused({}, [](bench::Experiment& experiment) {
        experiment.study("bare").untyped([](bench::Trial& trial) {
            trial.add("bare", [] {});
            trial.run();
        });
    });
    CHECK(reason.find("variant 'bare' has no marked source text") != std::string::npos);
}

TEST_CASE("two variants of one name are refused")
{
    auto const reason = bench::testing::refused({}, [](bench::Experiment& experiment) {
        experiment.study("twice").untyped([](bench::Trial& trial) {
            trial.skip("same", "not installed");
            trial.add("same", [] {});
        });
    });
    CHECK(reason == "self-test: two variants are called 'same'");
}

TEST_CASE("operands that are changed in place are restored")
{
    int resets = 0;
    auto const outcome = measure_point({}, [&](bench::Trial& trial) {
        auto const x = trial.input<double>(4);
        auto const y = trial.output<double>(4);
        std::vector<double> in_place(4);
        trial.on_reset([&] {
            in_place.assign(x.on().begin(), x.on().end());
            ++resets;
        });
        y.expect([&] {
            bench::Expected expected{{x.on().begin(), x.on().end()}, std::vector(x.size(), 0.0)};
            for (auto& value : expected.value) {
                value *= 2;
            }
            return expected;
        });
        auto const twice = [&] {
            for (std::size_t i = 0; i < 4; ++i) {
                in_place[i] *= 2;
                y.on()[i] = in_place[i];
            }
        };
        trial.add("in_place", twice).excerpt("kernel");
        trial
            .add("own",
                 [&, y](bench::Variant& v) {
                     auto const own = std::make_shared<std::vector<double>>(4);
                     v.on_reset([&, own] { own->assign(x.on().begin(), x.on().end()); });
                     return [&, y, own] {
                         for (std::size_t i = 0; i < 4; ++i) {
                             (*own)[i] *= 2;
                             y.on()[i] = (*own)[i];
                         }
                     };
                 })
            .excerpt("kernel");
        trial.run();
    });
    CHECK(outcome.code == 0);
    CHECK(resets > 0);
    for (auto const& one : outcome.result.at("cases")) {
        CHECK(one.at("iterations") == 1);
        CHECK(one.at("parameters").empty());
    }
}

TEST_CASE("what is derived from inputs is restored when these get new values")
{
    auto const outcome = measure_point({}, [](bench::Trial& trial) {
        auto const x = trial.input<double>(4);
        auto const y = trial.output<double>(4);
        std::vector<double> doubled(4);
        auto const twice = [x](std::vector<double>& to) {
            std::ranges::transform(x.on(), to.begin(), [](double value) { return 2 * value; });
        };
        trial.on_refill([&] { twice(doubled); });
        y.expect([&] { return bench::Expected{doubled, std::vector(4, 0.0)}; });
        auto const add = [&](std::string const& name, bool is_told) {
            trial
                .add(name,
                     [&, y, is_told](bench::Variant& v) {
                         auto const own = std::make_shared<std::vector<double>>(4);
                         twice(*own);
                         if (is_told) {
                             v.on_refill([&twice, own] { twice(*own); });
                         }
                         return [y, own] { std::ranges::copy(*own, y.on().begin()); };
                     })
                .excerpt("kernel");
        };
        add("told", true);
        add("stale", false);
        trial.run();
    });
    CHECK(outcome.code == 1);
    CHECK(bench::testing::verdict_of(outcome.result, "told") == "passed");
    CHECK(bench::testing::verdict_of(outcome.result, "stale").find("exact check, call 1") == 0);
}

TEST_CASE("an operand of the caller gets new values, and operations are recorded")
{
    auto const outcome = measure_point({}, [](bench::Trial& trial) {
        std::vector<double> x(4);
        std::vector<double> y(4);
        std::set<std::vector<double>> seen;
        trial.input(std::span{x});
        trial.work({.operations = 4});
        trial.output(std::span{y}).expect([&] {
            return bench::Expected{x, std::vector<double>(x.size())};
        });
        auto const copy = [&] {
            std::ranges::copy(x, y.begin());
            seen.insert(x);
        };
        trial.add("copy", copy).excerpt("kernel");
        trial.run();
        CHECK(seen.size() >= 2);
    });
    CHECK(outcome.code == 0);
    CHECK(outcome.result.at("cases").front().at("work").at("operations").get<double>() == 4);
}

TEST_CASE("operands may be empty")
{
    auto const outcome = measure_point({}, [](bench::Trial& trial) {
        std::vector<double> none;
        trial.input(std::span{none});
        trial.input<float>(0);
        trial.output(std::span{none}).expect([] { return bench::Expected{}; });
        trial.output<float>(0).expect(0, [](auto...) { FAIL_CHECK("asked for"); });
        trial.add("nothing", [] {}).excerpt("kernel");
        trial.run();
    });
    CHECK(outcome.code == 0);
    CHECK(bench::testing::verdict_of(outcome.result, "nothing") == "passed");
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
    Starting clock{calls};
    auto const outcome = measure_point({"--min-time", "1e-3"}, [&](bench::Trial& trial) {
        auto const x = trial.input<double>(1);
        auto const y = trial.output<double>(1);
        trial.work({.operations = 1});
        y.expect([&] { return bench::Expected{{x.on()[0]}, {0.0}}; });
        auto const copy = [&, in = x.on(), out = y.on()] {
            out[0] = in[0];
            ++calls;
        };
        trial.add("counted", copy).clock(clock).excerpt("kernel");
        trial.run();
    });
    // One call takes 8 us: 125 would do, and 31 are tried. These take 38 us: 816 would do.
    CHECK(outcome.result.at("cases").front().at("iterations") == 816);
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
    auto& flags = bench::testing::built_objects[0].flags;
    flags = "-O0 -G -std=c++20";
    auto const reason = bench::testing::refused({}, [](bench::Experiment& experiment) {
        experiment.study("any").untyped([](bench::Trial&) { FAIL_CHECK("measured"); });
    });
    flags = "-O3";
    CHECK(reason.find("was compiled with -G") != std::string::npos);
}

TEST_CASE("the median of an even and an odd number of samples")
{
    CHECK(bench::median({3, 1, 2}) == 2);
    CHECK(bench::median({4, 1, 2, 3}) == 2.5);
    CHECK(bench::median({7}) == 7);
}
