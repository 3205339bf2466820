#include "bench/experiment.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

/// Measures three variants: `y = x`, a probe that should and does write `3 x`, and one that should.
/// Returns their verdicts.
nlohmann::json verdicts(std::string output)
{
    std::string words[] = {"test", "--profile", "tiny", "--threads", "1", "--output"};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(),
                         words[4].data(), words[5].data(), output.data(),   nullptr};
    bench::Experiment experiment{"test", 7, arguments};
    auto const code = experiment.each<double>([](auto const&, auto& trial) {
        auto const x = trial.input(100);
        std::vector<double> y(x.size());
        trial.output(std::span{y});
        auto const times = [x](double factor) {
            bench::Expected wanted{{}, std::vector<double>(x.size(), 1e-12)};
            for (double const element : x) {
                wanted.value.push_back(factor * element);
            }
            return wanted;
        };
        auto const write = [&y, x](double factor) {
            return [&y, x, factor] {
                for (std::size_t i = 0; i < x.size(); ++i) {
                    y[i] = factor * x[i];
                }
            };
        };
        trial.expect([=] { return times(1); });
        trial.add("plain", write(1)).excerpt("kernel");
        trial.add("probe", write(3)).excerpt("kernel").expect([=] { return times(3); });
        trial.add("wrong", write(1)).excerpt("kernel").expect([=] { return times(3); });
        trial.run();
    });
    CHECK(code == 1);
    return nlohmann::json::parse(std::ifstream{output})["cases"];
}

} // namespace

TEST_CASE("a variant with an expectation of its own is held to that, and the others to theirs")
{
    auto folder = (std::filesystem::temp_directory_path() / "memwall-XXXXXX").string();
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    auto const cases = verdicts(folder + "/result.json");
    std::filesystem::remove_all(folder);
    CHECK(cases.size() > 3); // with twins of those that passed
    for (auto const& one : cases) {
        CAPTURE(one["variant"]);
        CHECK(one["verdict"]["status"] == (one["variant"] == "wrong" ? "failed" : "passed"));
    }
}
