#include "softmax.hpp"

#include "ceilings/device_probes.hpp"

/// Softmax over the rows of a matrix: which way keeps up with a plain copy, at which width?
int main(int argc, char** argv)
{
    cuda::Gpu gpu;
    bench::Experiment experiment{"softmax-block", argc, argv};
    experiment.ceiling(gpu, ceilings::device_copy);
    softmax_block::Contenders const contenders{gpu};

    auto& widths = experiment.study("widths").on(gpu);
    widths.axis("mebibytes", softmax_block::mebibytes()).axis("columns", softmax_block::widths());
    widths.types<bench::fp16, bench::bf16, float, double>([&]<class T>(bench::Trial& trial) {
        experiment.library("cudnn", contenders.library().version);
        softmax_block::ways<T>(trial, contenders);
    });

    auto& logarithms = experiment.study("log_softmax").on(gpu);
    logarithms.axis("mebibytes", softmax_block::mebibytes())
        .axis("columns", {std::int64_t{1000}, std::int64_t{8192}});
    logarithms.types<float>([&]<class T>(bench::Trial& trial) {
        experiment.library("cudnn", contenders.library().version);
        softmax_block::logarithms<T>(trial, contenders);
    });

    auto& sizes = experiment.study("block_sizes").on(gpu);
    sizes.axis("mebibytes", softmax_block::mebibytes())
        .axis("columns", {std::int64_t{256}, std::int64_t{1024}, std::int64_t{4096},
                          std::int64_t{8192}, std::int64_t{16384}});
    sizes.types<float>(
        [&]<class T>(bench::Trial& trial) { softmax_block::block_sizes<T>(trial, contenders); });

    auto& layouts = experiment.study("layouts").on(gpu);
    layouts.axis("mebibytes", softmax_block::mebibytes())
        .axis("columns", {std::int64_t{1024}, std::int64_t{4096}, std::int64_t{8192}});
    layouts.types<float, double>(
        [&]<class T>(bench::Trial& trial) { softmax_block::layouts<T>(trial, contenders); });
    return experiment.run();
}
