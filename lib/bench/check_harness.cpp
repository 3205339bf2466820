#include "bench/experiment.hpp"

#include "base/output.hpp"
#include "base/program.hpp"
#include "bench/do_not_optimize.hpp"
#include "bench/environment.hpp"
#include "bench/record.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::size_t repetitions = 15;

/// The host kernels that both harnesses time: one bound by memory, one by arithmetic, one so short
/// that the harness' own cost would show.
struct Kernels
{
    explicit Kernels(std::size_t count) : x(count, 1.5), y(count, 0.0) {}

    //! [scale]
    void scale()
    {
        for (std::size_t i = 0; i < x.size(); ++i) {
            y[i] = 3 * x[i];
        }
    }
    //! [scale]

    //! [polynomial]
    void polynomial()
    {
        for (std::size_t i = 0; i < x.size(); ++i) {
            double sum = 1;
            for (int degree = 0; degree < 32; ++degree) {
                sum = sum * x[i] + 1;
            }
            y[i] = sum;
        }
    }
    //! [polynomial]

    std::vector<double> x;
    std::vector<double> y;
};

using Medians = std::map<std::string, double>;

constexpr std::size_t short_count = 64;
constexpr std::size_t long_count = 1 << 20;

/// Keeps the wall time of each repetition instead of printing it.
class Collector : public benchmark::BenchmarkReporter
{
public:
    bool ReportContext(Context const&) override { return true; }
    void ReportRuns(std::vector<Run> const& runs) override
    {
        for (auto const& run : runs) {
            if (run.run_type == Run::RT_Iteration) {
                samples[run.run_name.function_name].push_back(run.real_accumulated_time /
                                                              static_cast<double>(run.iterations));
            }
        }
    }

    std::map<std::string, std::vector<double>> samples;
};

Medians google_benchmark(char* program)
{
    std::vector<char*> arguments{program};
    int count = 1;
    benchmark::Initialize(&count, arguments.data());
    auto const add = [](std::string const& name, std::size_t size, void (Kernels::*kernel)()) {
        benchmark::RegisterBenchmark(name.c_str(),
                                     [=](benchmark::State& state) {
                                         Kernels kernels{size};
                                         for (auto _ : state) {
                                             (kernels.*kernel)();
                                             bench::do_not_optimize(kernels.y.data());
                                         }
                                     })
            ->Repetitions(repetitions)
            ->MinTime(0.02);
    };
    add("short_scale", short_count, &Kernels::scale);
    add("scale", long_count, &Kernels::scale);
    add("polynomial", long_count, &Kernels::polynomial);
    Collector collector;
    benchmark::RunSpecifiedBenchmarks(&collector);
    Medians result;
    for (auto const& [name, samples] : collector.samples) {
        result[name] = bench::median(samples);
    }
    return result;
}

void add_trial(bench::Trial& trial)
{
    auto const& name = trial.text("kernel");
    Kernels kernels{name == "short_scale" ? short_count : long_count};
    auto const kernel = name == "polynomial" ? &Kernels::polynomial : &Kernels::scale;
    trial.cache(bench::Cache::warm);
    trial.work({.flops = static_cast<double>(kernels.x.size()),
                .bytes = 16 * static_cast<double>(kernels.x.size())});
    trial.inexact("a polynomial of degree 32 leaves the integers that doubles hold");
    trial.input(std::span{kernels.x});
    trial.output(std::span{kernels.y}).expect([&] {
        auto reference = kernels;
        (reference.*kernel)();
        return bench::Expected{reference.y, std::vector<double>(reference.y.size(), 1e-9)};
    });
    trial
        .add(name,
             [&] {
                 (kernels.*kernel)();
                 bench::do_not_optimize(kernels.y.data());
             })
        .excerpt(name == "polynomial" ? "polynomial" : "scale");
    trial.run();
}

Medians ours(std::string const& file)
{
    Medians result;
    auto const measured = nlohmann::json::parse(std::ifstream{file});
    for (auto const& one : measured.at("cases")) {
        if (!one.at("twin").get<bool>()) {
            result[one.at("variant")] = bench::median(one.at("samples_s"));
        }
    }
    return result;
}

} // namespace

/// Times the same host kernels with this harness and with Google Benchmark, and writes both medians
/// into `harness.json` of the folder that it is given, which is the machine's.
int main(int argc, char** argv)
try {
    if (argc != 2) {
        throw std::invalid_argument{"expected the folder of the machine"};
    }
    std::filesystem::path const folder{argv[1]};
    auto const file = (folder / "harness.json").string();
    std::vector<std::string> words{"check-harness", "--threads", "1",        "--samples", "15",
                                   "--min-time",    "0.02",      "--output", file};
    std::vector<char*> arguments;
    for (auto& word : words) {
        arguments.push_back(word.data());
    }
    bench::Experiment experiment{"check-harness", static_cast<int>(arguments.size()),
                                 arguments.data()};
    experiment.study("kernels")
        .axis("kernel", {"short_scale", "scale", "polynomial"})
        .untyped(add_trial);
    if (auto const code = experiment.run(); code != 0) {
        return code;
    }
    auto const reference = google_benchmark(argv[0]);
    nlohmann::ordered_json record;
    for (auto const& [name, seconds] : ours(file)) {
        record[name] = {{"memwall_s", bench::rounded(seconds)},
                        {"google_benchmark_s", bench::rounded(reference.at(name))}};
        base::print(fmt::format("{:12} {:10.3e} s here, {:10.3e} s with Google Benchmark: {:.3f}\n",
                                name, seconds, reference.at(name), seconds / reference.at(name)));
    }
    base::write_whole(file, record.dump(2) + "\n");
    return 0;
} catch (...) {
    fmt::print(stderr, "check-harness: {}\n", base::cause());
    return 2;
}
