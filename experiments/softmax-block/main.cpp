#include "studies.hpp"

#include "ceilings/device_probes.hpp"

/// Softmax over the rows of a matrix: which way keeps up with a plain copy, at which width?
int main(int argc, char** argv)
{
    cuda::Gpu gpu;
    bench::Experiment experiment{"softmax-block", argc, argv};
    experiment.ceiling(gpu, ceilings::device_copy);
    softmax_block::Contenders const contenders{gpu};
    softmax_block::add_widths(experiment, contenders);
    softmax_block::add_copy_speed(experiment, contenders);
    softmax_block::add_logarithms(experiment, contenders);
    softmax_block::add_block_sizes(experiment, contenders);
    softmax_block::add_layouts(experiment, contenders);
    return experiment.run();
}
