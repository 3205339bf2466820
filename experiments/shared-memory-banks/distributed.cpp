#include "cycles.hpp"
#include "studies.hpp"

#include "dense/banks.hpp"
#include "dense/gpu/banks.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace shared_memory_banks {

namespace {

/// Shared memory of the block itself, and of another block of its cluster.
void distributed(bench::Trial& trial, cuda::Gpu& gpu)
{
    auto const blocks = static_cast<int>(trial.integer("cluster"));
    if (auto const why = dense::gpu::refuses_cluster(blocks); !why.empty()) {
        trial.not_applicable(std::string{why});
    }
    constexpr std::size_t threads = 1024;
    auto const values = trial.input<float>(threads);
    auto const results = trial.output<float>(threads * static_cast<std::size_t>(blocks));
    constexpr double accesses = dense::gpu::accesses_of_warp * dense::gpu::warps_of_block;
    trial.cache(bench::Cache::warm);
    trial.work({.operations = accesses * blocks});
    results.expect([=] {
        bench::Expected expected;
        for (std::size_t i = 0; i < results.size(); ++i) {
            expected.value.push_back(values.on()[i % threads]);
            expected.bound.push_back(0);
        }
        return expected;
    });
    for (bool const remote : {false, true}) {
        trial
            .add(remote ? "remote" : "local",
                 [&, remote](bench::Variant& variant) {
                     auto const cycles = std::make_shared<cuda::Buffer<long long>>(1);
                     variant.count("cycles", cycles_of(cycles, accesses));
                     return [=, &gpu, values = values.on(gpu), results = results.on(gpu)] {
                         dense::gpu::distributed_cycles(blocks, remote, values, results,
                                                        cycles->data(), gpu.stream());
                     };
                 })
            .excerpt("distributed");
    }
    trial.run();
}

} // namespace

void add_distributed(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("distributed").on(gpu);
    study.axis("cluster", {std::int64_t{2}, std::int64_t{4}, std::int64_t{8}, std::int64_t{16}});
    study.untyped([&gpu](bench::Trial& trial) { distributed(trial, gpu); });
}

} // namespace shared_memory_banks
