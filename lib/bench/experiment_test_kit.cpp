#include "bench/experiment_test.hpp"

#include "bench/fake_target.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace bench {

namespace testing {

namespace {

constexpr std::array<Excerpt, 1> excerpts{
    {{"kernel", "lib/bench/experiment_test.cpp", "the text that ran\n"}}};

} // namespace

std::array<ObjectFlags, 1> built_objects{{{"a.o", "lib/bench/experiment_test.cpp", "-O3"}}};

Folder::Folder()
{
    auto name = (std::filesystem::temp_directory_path() / "memwall-XXXXXX").string();
    path_ = mkdtemp(name.data());
}

std::vector<std::string> Folder::files() const
{
    std::vector<std::string> names;
    for (auto const& entry : std::filesystem::directory_iterator{path_}) {
        names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
}

CommandLine::CommandLine(std::string const& output, std::vector<std::string> arguments)
    : words_{"test", "--threads", "1", "--output", output}
{
    if (std::ranges::find(arguments, "--profile") == arguments.end()) {
        words_.insert(words_.end(), {"--profile", "tiny"});
    }
    words_.insert(words_.end(), arguments.begin(), arguments.end());
    for (auto& word : words_) {
        pointers_.push_back(word.data());
    }
    pointers_.push_back(nullptr);
}

Json read(std::string const& file)
{
    return Json::parse(std::ifstream{file});
}

std::shared_ptr<Witness> tested_system = std::make_shared<ScriptedSystem>();

Outcome measure_in(Folder const& folder, std::vector<std::string> const& arguments,
                   std::function<void(Experiment&)> const& declare, Target& usual)
{
    auto const output = folder.file("result.json");
    CommandLine line{output, arguments};
    replace_system(tested_system);
    Experiment experiment{"self-test", line.argc(), line.argv(), usual};
    declare(experiment);
    Outcome outcome{.code = experiment.run(), .result = {}, .files = folder.files()};
    if (std::filesystem::exists(output)) {
        outcome.result = read(output);
    }
    return outcome;
}

Outcome measure(std::vector<std::string> const& arguments,
                std::function<void(Experiment&)> const& declare, Target& usual)
{
    Folder const folder;
    return measure_in(folder, arguments, declare, usual);
}

Outcome measure_point(std::vector<std::string> const& arguments,
                      std::function<void(Trial&)> const& body)
{
    return measure(arguments,
                   [&](Experiment& experiment) { experiment.study("point").untyped(body); });
}

std::string refused(std::vector<std::string> const& arguments,
                    std::function<void(Experiment&)> const& declare)
{
    ListeningHost host;
    auto const outcome = measure(arguments, declare, host);
    CHECK(outcome.code == 2);
    CHECK(outcome.result.is_null());
    return host.reason();
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

std::string verdict_of(Json const& result, std::string const& variant)
{
    auto const cases = cases_of(result, variant);
    REQUIRE(cases.size() == 1);
    auto const& one = cases.front();
    auto const& verdict = one.at("verdict");
    bool const passed = verdict.at("status") == "passed";
    CHECK(one.at("samples_s").size() ==
          (passed ? result.at("run").at("rounds").get<std::size_t>() : 0));
    CHECK((one.at("iterations") > 0) == passed);
    return passed ? "passed" : verdict.at("reason").get<std::string>();
}

} // namespace testing

Provenance const& provenance()
{
    static Provenance const built{
        "unknown", false, "test", "release", testing::excerpts, testing::built_objects};
    return built;
}

} // namespace bench
