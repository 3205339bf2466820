#include "bench/experiment_test.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace {

/// Measures three variants: `y = x`, a probe that should and does write `3 x`, and one that should.
/// Returns their verdicts.
nlohmann::json verdicts(std::string const& output)
{
    bench::testing::CommandLine line{output, {}};
    bench::Experiment experiment{"test", line.argc(), line.argv()};
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
    return bench::testing::read(output)["cases"];
}

} // namespace

TEST_CASE("a variant with an expectation of its own is held to that, and the others to theirs")
{
    bench::testing::Folder const folder;
    auto const cases = verdicts(folder.file("result.json"));
    CHECK(cases.size() > 3); // with twins of those that passed
    for (auto const& one : cases) {
        CAPTURE(one["variant"]);
        CHECK(one["verdict"]["status"] == (one["variant"] == "wrong" ? "failed" : "passed"));
    }
}
