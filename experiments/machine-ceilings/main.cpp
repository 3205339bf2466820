#include "cores.hpp"
#include "device.hpp"
#include "memory.hpp"

#include "bench/experiment.hpp"
#include "ceilings/probes.hpp"
#include "machine/topology.hpp"

#include <algorithm>
#include <stdexcept>

/// What can this machine do at best?
int main(int argc, char** argv)
{
    using machine_ceilings::device_kernels;
    auto const cache = machine::last_level_cache_bytes();
    bench::Experiment experiment{"machine-ceilings", argc, argv};
    bench::AxisValues kernels{"read", "copy",      "triad",     "latency",
                              "fma",  "fork_join", "hand_over", "false_sharing"};
    experiment.axis("kernel", kernels.and_also(device_kernels));
    experiment.ceiling([=](int threads) { return ceilings::Read{threads, cache}; });
    experiment.ceiling([=](int threads) { return ceilings::Copy{threads, cache}; });
    experiment.ceiling([=](int threads) { return ceilings::Triad{threads, cache}; });
    experiment.ceiling([](int threads) { return ceilings::Fma<float>{threads}; });
    experiment.ceiling([](int threads) { return ceilings::Fma<double>{threads}; });
    machine_ceilings::add_device_ceilings(experiment);

    return experiment.each<float, double>(
        [=]<class T>(bench::Point const& at, bench::Trial<T>& trial) {
            auto const& kernel = at.text("kernel");
            auto const count = 2 * cache / sizeof(T); // two arrays: four caches
            if (kernel == "read") {
                machine_ceilings::read(trial, machine_ceilings::enough_to_read<T>(count));
            } else if (kernel == "copy") {
                machine_ceilings::copy(trial, count);
            } else if (kernel == "triad") {
                machine_ceilings::triad(trial, count);
            } else if (kernel == "latency") {
                machine_ceilings::latency(trial, cache);
            } else if (kernel == "fma") {
                machine_ceilings::arithmetic(trial);
            } else if (kernel == "fork_join") {
                machine_ceilings::fork_join(trial);
            } else if (kernel == "hand_over") {
                machine_ceilings::hand_over(trial);
            } else if (kernel == "false_sharing") {
                machine_ceilings::false_sharing(trial);
            } else if (std::ranges::find(device_kernels, kernel) != device_kernels.end()) {
                machine_ceilings::measure_on_device(kernel, trial);
            } else {
                throw std::invalid_argument{"--kernel: found '" + kernel +
                                            "', expected a kernel that --list shows"};
            }
        });
}
