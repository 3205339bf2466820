#include "studies.hpp"

/// Shared memory: how many cycles does an access take, and does a model of 32 banks know it?
int main(int argc, char** argv)
{
    cuda::Gpu gpu;
    bench::Experiment experiment{"shared-memory-banks", argc, argv};
    shared_memory_banks::add_patterns(experiment, gpu);
    shared_memory_banks::add_distributed(experiment, gpu);
    return experiment.run();
}
