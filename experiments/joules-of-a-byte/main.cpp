#include "host.hpp"

#include "bench/experiment.hpp"
#include "cuda/gpu.hpp"

/// What does a byte cost, and what an operation, in joules?
int main(int argc, char** argv)
{
    cuda::Gpu gpu;
    bench::Experiment experiment{"joules-of-a-byte", argc, argv};
    experiment.sampling({.rounds = 5, .pairs = 9}); // of a second each
    joules::HostMeter meter;
    experiment.study("host_levels").untyped([&](bench::Trial& trial) {
        joules::host_levels(trial, meter);
    });
    experiment.study("host_operations").types<float, double>([&]<class T>(bench::Trial& trial) {
        joules::host_operations<T>(trial, meter);
    });
    cuda::add_studies(experiment, gpu); // those of gpu.cpp, where this was built with nvcc
    return experiment.run();
}
