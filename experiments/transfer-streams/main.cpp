#include "studies.hpp"

#include "ceilings/device_probes.hpp"

/// Streams: which order of work fills both directions of the bus and the multiprocessors at once?
int main(int argc, char** argv)
{
    cuda::Gpu gpu;
    bench::Experiment experiment{"transfer-streams", argc, argv};
    experiment.ceiling(gpu, ceilings::bus_to_device);
    experiment.ceiling(gpu, ceilings::bus_to_host);
    transfer_streams::add_two_streams(experiment, gpu);
    transfer_streams::add_chunks(experiment, gpu);
    transfer_streams::add_articles_check(experiment, gpu);
    return experiment.run();
}
