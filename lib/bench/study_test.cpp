#include "bench/experiment_test.hpp"
#include "bench/fake_target.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using bench::testing::cases_of;
using bench::testing::Folder;
using bench::testing::Json;
using bench::testing::measure;
using bench::testing::measure_in;
using bench::testing::refused;
using Words = std::vector<std::string>;

/// Measures one variant, "copy".
template <class T>
void copy_in(bench::Trial& trial)
{
    auto const x = trial.input<T>(4);
    auto const y = trial.output<T>(4);
    y.expect([x] {
        bench::Expected wanted;
        for (T const value : x.on()) {
            wanted.value.push_back(static_cast<double>(value));
            wanted.bound.push_back(0);
        }
        return wanted;
    });
    auto const copy = [from = x.on(), to = y.on()] { std::ranges::copy(from, to.begin()); };
    trial.add("copy", copy).excerpt("kernel");
    trial.run();
}

/// Study and parameters of each point that was measured, in order.
std::vector<std::string> points_of(Json const& result)
{
    std::vector<std::string> points;
    for (auto const& one : cases_of(result, "copy")) {
        points.push_back(one.at("study").get<std::string>() + one.at("parameters").dump());
    }
    return points;
}

/// Three studies: of sizes and types, of names, and of neither.
void declare_three(bench::Experiment& experiment)
{
    experiment.study("sizes")
        .axis("size", {std::int64_t{1}, std::int64_t{2}})
        .types<float, double>([]<class T>(bench::Trial& trial) { copy_in<T>(trial); });
    experiment.study("names").axis("name", {"a", "b"}).untyped(copy_in<std::int32_t>);
    experiment.study("one").untyped(copy_in<double>);
}

} // namespace

TEST_CASE("a study with types records the precision, one without does not")
{
    auto const outcome = measure({}, declare_three);
    REQUIRE(outcome.code == 0);
    CHECK(points_of(outcome.result) ==
          Words{R"(sizes{"precision":"fp32","size":1})", R"(sizes{"precision":"fp64","size":1})",
                R"(sizes{"precision":"fp32","size":2})", R"(sizes{"precision":"fp64","size":2})",
                R"(names{"name":"a"})", R"(names{"name":"b"})", "one{}"});
    for (auto const& one : outcome.result.at("cases")) {
        CHECK(one.at("target") == "host");
    }
}

TEST_CASE("the book profile has values of its own, or else the quick ones")
{
    auto const declare = [](bench::Experiment& experiment) {
        bench::AxisValues values{"quick"};
        experiment.study("same").axis("name", values).untyped(copy_in<double>);
        values.book = {"book"};
        experiment.study("other").axis("name", values).untyped(copy_in<double>);
    };
    CHECK(points_of(measure({"--profile", "book"}, declare).result) ==
          Words{R"(same{"name":"quick"})", R"(other{"name":"book"})"});
    CHECK(points_of(measure({}, declare).result) ==
          Words{R"(same{"name":"quick"})", R"(other{"name":"quick"})"});
}

TEST_CASE("a body knows where its trial stands, and asks for no other axis")
{
    auto const outcome = measure({}, [](bench::Experiment& experiment) {
        experiment.study("all")
            .axis("name", {"a"})
            .axis("size", {std::int64_t{3}})
            .axis("share", {0.5})
            .types<double>([]<class T>(bench::Trial& trial) {
                CHECK(trial.text("name") == "a");
                CHECK(trial.integer("size") == 3);
                CHECK(trial.real("share") == 0.5);
                CHECK(trial.text("precision") == "fp64");
                CHECK(trial.threads() == 1);
                CHECK_THROWS_AS(trial.text("size"), std::logic_error);
                CHECK_THROWS_AS(trial.integer("no_such"), std::logic_error);
                copy_in<T>(trial);
            });
    });
    CHECK(outcome.code == 0);
}

TEST_CASE("options choose studies")
{
    auto const studies_for = [](Words const& words) {
        auto const outcome = measure(words, declare_three);
        CHECK(outcome.code == 0);
        return points_of(outcome.result);
    };
    CHECK(studies_for({"--study", "one"}) == Words{"one{}"});
    CHECK(studies_for({"--study", "one", "names", "--name", "c"}) == Words{R"(names{"name":"c"})"});
    CHECK(studies_for({"--size", "7", "--precision", "fp32"}) ==
          Words{R"(sizes{"precision":"fp32","size":7})"});
    CHECK(studies_for({"--precision", "fp32"}).size() == 2 + 2 + 1);
}

TEST_CASE("a run that is asked for nothing is refused")
{
    for (auto const& words : {Words{"--study", "none"}, Words{"--study", "one", "--size", "7"},
                              Words{"--size", "7", "--name", "c"}}) {
        auto const reason = refused(words, declare_three);
        CHECK(!reason.empty());
    }
    auto const two_types = [](bench::Experiment& experiment) {
        auto const body = []<class T>(bench::Trial& trial) { copy_in<T>(trial); };
        experiment.study("single").types<float>(body);
        experiment.study("double").types<double>(body);
    };
    auto const outcome = measure({"--precision", "fp64"}, two_types);
    CHECK(outcome.code == 0);
    CHECK(points_of(outcome.result) == Words{R"(double{"precision":"fp64"})"});
    CHECK(!refused({"--study", "single", "--precision", "fp64"}, two_types).empty());
    CHECK(!refused({}, [](bench::Experiment&) {}).empty());
    CHECK(!refused({}, [](bench::Experiment& experiment) {
               experiment.study("empty").axis("size", bench::AxisValues{}).untyped(copy_in<double>);
           }).empty());
}

TEST_CASE("a study that measures nothing and two of one name are refused")
{
    CHECK(refused({}, [](bench::Experiment& experiment) {
              experiment.study("bare").axis("size", {std::int64_t{1}});
          }) == "self-test: study 'bare' measures nothing");
    CHECK(refused({}, [](bench::Experiment& experiment) {
              experiment.study("same").untyped(copy_in<double>);
              experiment.study("same").untyped(copy_in<double>);
          }) == "self-test: two studies are called 'same'");
}

TEST_CASE("an axis may be a function of an option")
{
    for (bool const is_given : {false, true}) {
        std::int64_t width = 4;
        std::string unused = "as it was";
        auto const outcome =
            measure(is_given ? Words{"--wA", "7"} : Words{}, [&](bench::Experiment& experiment) {
                experiment.option("wA", &width, "width of A").option("unused", &unused, "nothing");
                experiment.study("widths")
                    .axis("width",
                          [&] {
                              return bench::AxisValues{std::int64_t{1}, width, 2 * width};
                          })
                    .untyped(copy_in<double>);
            });
        CHECK(outcome.code == 0);
        CHECK(unused == "as it was");
        CHECK(
            points_of(outcome.result) ==
            (is_given
                 ? Words{R"(widths{"width":1})", R"(widths{"width":7})", R"(widths{"width":14})"}
                 : Words{R"(widths{"width":1})", R"(widths{"width":4})", R"(widths{"width":8})"}));
    }
}

TEST_CASE("a value that an axis refuses ends the run before anything is measured")
{
    auto const declare = [](bench::Experiment& experiment) {
        struct Names
        {
            std::vector<std::string> tiny{"a"};
            std::vector<std::string> quick;
            std::vector<std::string> book;
            std::vector<std::string> full;
            std::function<void(std::string const&)> require = [](std::string const& name) {
                if (name != "a" && name != "b") {
                    throw std::runtime_error{name + ": no such matrix"};
                }
            };
        };
        bench::AxisValues even{std::int64_t{2}, std::int64_t{4}};
        even.require = [](bench::Parameter const& value) {
            if (std::get<std::int64_t>(value) % 2 != 0) {
                throw std::invalid_argument{"--size: an even number"};
            }
        };
        auto const body = [](bench::Trial&) { FAIL_CHECK("measured"); };
        experiment.study("free").untyped(body);
        experiment.study("sizes").axis("size", even).untyped(body);
        experiment.study("names").axis("name", Names{}).untyped(body);
    };
    CHECK(refused({"--size", "6", "3"}, declare) == "self-test: --size: an even number");
    CHECK(refused({"--name", "b", "c"}, declare) == "self-test: c: no such matrix");
    bench::testing::ListeningHost host;
    auto const outcome = measure({"--name", "c"}, declare, host);
    CHECK(outcome.code == 2);
    CHECK(outcome.files.empty());

    // The values of a profile too, of a study that comes last.
    CHECK(refused({}, [](bench::Experiment& experiment) {
              experiment.study("free").untyped([](bench::Trial&) { FAIL_CHECK("measured"); });
              bench::AxisValues values{"a"};
              values.require = [](bench::Parameter const&) {
                  throw std::runtime_error{"a: no such file"};
              };
              experiment.study("names").axis("name", values).untyped(copy_in<double>);
          }) == "self-test: a: no such file");
}

TEST_CASE("a run that died goes on in the study where it was")
{
    Folder const folder;
    std::vector<std::string> bodies;
    bool dies = true;
    auto const declare = [&](bench::Experiment& experiment) {
        for (auto const* name : {"first", "second"}) {
            experiment.study(name)
                .axis("size", {std::int64_t{1}, std::int64_t{2}})
                .untyped([&, name](bench::Trial& trial) {
                    bodies.push_back(name + std::to_string(trial.integer("size")));
                    if (dies && bodies.back() == "second2") {
                        throw std::runtime_error{"power cut"};
                    }
                    copy_in<double>(trial);
                });
        }
    };
    bench::testing::ListeningHost host;
    CHECK(measure_in(folder, {}, declare, host).code == 2);
    CHECK(host.reason() == "self-test: power cut");
    CHECK(bodies.size() == 7);
    std::vector<std::string> keys;
    std::ifstream journal{folder.file("result.json.journal")};
    for (std::string line; std::getline(journal, line);) {
        if (auto const entry = Json::parse(line); entry.contains("key")) {
            keys.push_back(entry.at("key"));
        }
    }
    CHECK(keys == Words{"first size=1", "first size=2", "second size=1"});

    dies = false;
    bodies.clear();
    auto const outcome = measure_in(folder, {}, declare, host);
    CHECK(outcome.code == 0);
    CHECK(bodies == Words{"second2", "second2"});
    CHECK(points_of(outcome.result) == Words{R"(first{"size":1})", R"(first{"size":2})",
                                             R"(second{"size":1})", R"(second{"size":2})"});
    CHECK(outcome.files == Words{"result.json"});
}

TEST_CASE("of several processes, the first measures studies that do not depend on threads")
{
    bench::testing::FakeTarget device;
    bench::testing::FakeTarget cores;
    cores.by_threads = true;
    auto const studies_in = [&](Words const& words) {
        std::vector<std::string> measured;
        auto const outcome = measure(words, [&](bench::Experiment& experiment) {
            auto const note = [&](bench::Trial& trial) {
                measured.push_back(trial.text("name"));
                trial.not_applicable("nothing");
            };
            experiment.study("device").on(device).axis("name", {"device"}).untyped(note);
            experiment.study("cores").on(cores).axis("name", {"cores"}).untyped(note);
            experiment.study("host").axis("name", {"host"}).untyped(note);
        });
        CHECK(outcome.code == 0);
        CHECK(outcome.result.at("run").at("arguments").dump().find("later") == std::string::npos);
        return measured;
    };
    CHECK(studies_in({}) == Words{"device", "cores", "host"});
    CHECK(studies_in({"--later"}) == Words{"cores", "host"});
    CHECK(studies_in({"--later", "--study", "device"}).empty()); // no error: another measures it
}
