#include "studies.hpp"

#include "ceilings/device_probes.hpp"

/// Transfers between host and GPU: which way over the bus, for how much, and at which cost?
int main(int argc, char** argv)
{
    cuda::Gpu gpu;
    bench::Experiment experiment{"transfer-modes", argc, argv};
    experiment.ceiling(gpu, ceilings::bus_to_device);
    experiment.ceiling(gpu, ceilings::bus_to_host);
    transfer_modes::add_modes(experiment, gpu);
    transfer_modes::add_large(experiment, gpu);
    transfer_modes::add_kinds(experiment, gpu);
    transfer_modes::add_staged(experiment, gpu);
    transfer_modes::add_engine(experiment, gpu);
    transfer_modes::add_zero_copy(experiment, gpu);
    transfer_modes::add_dot(experiment, gpu);
    transfer_modes::add_capacity(experiment, gpu);
    transfer_modes::add_pitched(experiment, gpu);
    transfer_modes::add_allocation(experiment, gpu);
    transfer_modes::add_starved(experiment, gpu);
    transfer_modes::add_host_side(experiment, gpu);
    transfer_modes::add_pieces(experiment, gpu);
    transfer_modes::add_behind(experiment, gpu);
    transfer_modes::add_apart(experiment, gpu);
    transfer_modes::add_numa(experiment, gpu);
    return experiment.run();
}
