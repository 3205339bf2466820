#include "banks.hpp"

/// Shared memory: how many cycles does an access take, and does a model of 32 banks know it?
int main(int argc, char** argv)
{
    cuda::Gpu gpu;
    bench::Experiment experiment{"shared-memory-banks", argc, argv};
    auto& patterns = experiment.study("patterns").on(gpu);
    patterns.axis("pattern", shared_memory_banks::pattern_names());
    patterns.axis("access", {"read", "write"});
    patterns.untyped([&](bench::Trial& trial) { shared_memory_banks::pattern(trial, gpu); });

    auto& distributed = experiment.study("distributed").on(gpu);
    distributed.axis("cluster",
                     {std::int64_t{2}, std::int64_t{4}, std::int64_t{8}, std::int64_t{16}});
    distributed.untyped([&](bench::Trial& trial) { shared_memory_banks::distributed(trial, gpu); });
    return experiment.run();
}
