// Prints what the model of plans counts on matrices, and the constants that it has, as JSON: what
// `just fit-plan` fits constants to.

#include "spmv/plan_model.hpp"

#include "machine/topology.hpp"
#include "sparse/datasets.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::ordered_json;

Json as_json(std::vector<spmv::Term> const& terms)
{
    auto json = Json::object();
    for (auto const& [name, count] : terms) {
        json[name] = json.value(name, 0.0) + count;
    }
    return json;
}

Json as_json(spmv::Estimate const& estimate)
{
    return {
        {"format", estimate.format},          {"name", estimate.name},
        {"detail", estimate.detail},          {"nanoseconds", estimate.nanoseconds},
        {"overlap", estimate.overlap},        {"core", as_json(estimate.core)},
        {"memory", as_json(estimate.memory)},
    };
}

/// The constants of a processor.
Json as_json(spmv::Processor const& processor)
{
    Json times;
    for (auto const& [term, single_ns, double_ns] : processor.times) {
        times[term] = {{"fp32", single_ns}, {"fp64", double_ns}};
    }
    return {{"kind", processor.kind}, {"times", times}};
}

/// What the command line asks for.
struct Request
{
    std::vector<std::string> matrices;
    std::vector<int> threads{1};
    std::string vendor = "other";
    std::string kernels = "avx512";
    std::vector<std::size_t> caches;
    int hardware_threads = 0;
};

template <class T>
void add_points(Json& points, sparse::Datasets& datasets, std::string const& name,
                std::string const& precision, spmv::Processor const& processor,
                std::vector<int> const& threads)
{
    auto const a =
        datasets.load<T>(name, [](std::span<T> values) { std::ranges::fill(values, T(1)); });
    for (int const count : threads) {
        for (bool const cold : {false, true}) {
            auto estimates = Json::array();
            for (auto const& estimate : spmv::estimate_formats<T>(a, processor, {count, cold})) {
                estimates.push_back(as_json(estimate));
            }
            points.push_back({{"matrix", name},
                              {"sha256", datasets.description(name).sha256},
                              {"precision", precision},
                              {"threads", count},
                              {"cache", cold ? "cold" : "warm"},
                              {"estimates", estimates}});
        }
    }
}

Json terms(Request const& request)
{
    auto caches = machine::topology().core_caches;
    if (!request.caches.empty()) {
        caches = {request.caches[0], request.caches[1], request.caches[2]};
    }
    auto const processor =
        spmv::processor(request.vendor, request.kernels, caches, request.hardware_threads);
    auto json = as_json(processor);
    json["points"] = Json::array();
    sparse::Datasets datasets;
    for (auto const& name : request.matrices) {
        add_points<float>(json["points"], datasets, name, "fp32", processor, request.threads);
        add_points<double>(json["points"], datasets, name, "fp64", processor, request.threads);
    }
    return json;
}

} // namespace

int main(int argc, char** argv)
{
    CLI::App app{"Prints what the model of plans counts on matrices, and its constants."};
    Request request;
    app.add_option("MATRIX", request.matrices, "catalogue names or Matrix Market files");
    app.add_option("--threads", request.threads, "of a multiply, one number or several");
    app.add_option("--vendor", request.vendor, "of the processor: amd, intel or other");
    app.add_option("--kernels", request.kernels,
                   "that it runs: avx512_gather, avx512, avx2 or baseline");
    app.add_option("--caches", request.caches, "its bytes: first level, second, last")->expected(3);
    app.add_option("--hardware-threads", request.hardware_threads, "of the machine");
    try {
        app.parse(argc, argv);
        fmt::print("{}\n", terms(request).dump());
    } catch (CLI::Success const& help) {
        return app.exit(help);
    } catch (std::exception const& e) {
        fmt::print(stderr, "{}\n", e.what());
        return 2;
    }
}
