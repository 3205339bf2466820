#include "studies.hpp"

#include "bench/experiment.hpp"
#include "ceilings/probes.hpp"
#include "cuda/gpu.hpp"

/// What can this machine do at best?
int main(int argc, char** argv)
{
    cuda::Gpu gpu;
    bench::Experiment experiment{"machine-ceilings", argc, argv};
    experiment.ceiling(ceilings::read)
        .ceiling(ceilings::copy)
        .ceiling(ceilings::triad)
        .ceiling(ceilings::fma<float>)
        .ceiling(ceilings::fma<double>);
    experiment.study("read").types<float, double>(
        []<class T>(bench::Trial& trial) { machine_ceilings::read<T>(trial); });
    experiment.study("copy").untyped(machine_ceilings::copy);
    experiment.study("triad").untyped(machine_ceilings::triad);
    experiment.study("latency").untyped(machine_ceilings::latency);
    experiment.study("fma").types<float, double>(
        []<class T>(bench::Trial& trial) { machine_ceilings::fma<T>(trial); });
    experiment.study("fork_join").untyped(machine_ceilings::fork_join);
    experiment.study("hand_over").untyped(machine_ceilings::hand_over);
    experiment.study("false_sharing").untyped(machine_ceilings::false_sharing);
    cuda::add_studies(experiment, gpu); // those of gpu.cpp, where this was built with nvcc
    return experiment.run();
}
