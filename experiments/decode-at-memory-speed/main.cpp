#include "studies.hpp"

#include "ceilings/device_probes.hpp"

/// Why does a language model's next word cost what it costs?
int main(int argc, char** argv)
{
    cuda::Gpu gpu;
    bench::Experiment experiment{"decode-at-memory-speed", argc, argv, gpu};
    experiment.ceiling(gpu, ceilings::device_read);
    decode::add_reads(experiment, gpu);
    decode::add_weights(experiment, gpu);
    decode::add_vectors(experiment, gpu);
    decode::add_attention(experiment, gpu);
    decode::add_layers(experiment, gpu);
    return experiment.run();
}
