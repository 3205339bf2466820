#include "device_studies.hpp"

#include "bench/experiment.hpp"
#include "ceilings/device_probes.hpp"
#include "cuda/device.hpp"

#include <cstddef>
#include <string>

void cuda::add_studies(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    if (gpu.missing().empty()) {
        experiment.library("cuda-runtime", cuda::runtime_version());
    }
    experiment.ceiling(gpu, ceilings::device_read)
        .ceiling(gpu, ceilings::device_l2)
        .ceiling(gpu, ceilings::device_copy)
        .ceiling(gpu, ceilings::device_fma<float>)
        .ceiling(gpu, ceilings::device_fma<double>)
        .ceiling(gpu, ceilings::bus_to_device)
        .ceiling(gpu, ceilings::bus_to_host);
    auto const add = [&](char const* name, void (*measure)(bench::Trial&, cuda::Gpu&)) {
        experiment.study(name).on(gpu).untyped(
            [=, &gpu](bench::Trial& trial) { measure(trial, gpu); });
    };
    auto const add_launches = [&](std::string const& name, std::size_t count, auto clock,
                                  bool waits = false, bool begins_idle = false) {
        experiment.study(name).on(gpu).untyped([=, &gpu](bench::Trial& trial) {
            machine_ceilings::launches(trial, gpu, name, count, (gpu.*clock)(), waits, begins_idle);
        });
    };
    constexpr std::size_t many = 1000; // in a queue: as fast as the host gives them
    add("device_read", machine_ceilings::device_read);
    add("device_copy", machine_ceilings::device_copy);
    experiment.study("device_gather")
        .on(gpu)
        .types<float, double>(
            [&]<class T>(bench::Trial& trial) { machine_ceilings::device_gather<T>(trial, gpu); });
    add("device_take", machine_ceilings::device_take);
    experiment.study("device_shared")
        .on(gpu)
        .types<float, double>(
            [&]<class T>(bench::Trial& trial) { machine_ceilings::device_shared<T>(trial, gpu); });
    experiment.study("device_fma").on(gpu).types<float, double>([&]<class T>(bench::Trial& trial) {
        machine_ceilings::device_fma<T>(trial, gpu);
    });
    add_launches("launch_and_wait", 1, &cuda::Gpu::wall, true);
    add_launches("launch_between_events", 1, &cuda::Gpu::events, false, true);
    add_launches("launch_in_queue", many, &cuda::Gpu::events);
    add_launches("launch_in_graph", many, &cuda::Gpu::graph);
    add("bus_to_device", machine_ceilings::bus_to_device);
    add("bus_to_host", machine_ceilings::bus_to_host);
    add("bus_both", machine_ceilings::bus_both);
}
