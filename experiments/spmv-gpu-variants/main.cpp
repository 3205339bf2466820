#include "variants.hpp"

#include "ceilings/device_probes.hpp"

/// GPU SpMV: which kernel suits which matrix, and can a library choose?
int main(int argc, char** argv)
{
    sparse::Datasets datasets;
    cuda::Gpu gpu;
    bench::Experiment experiment{"spmv-gpu-variants", argc, argv, gpu};
    std::string tried;
    experiment.option("tried", &tried, "somebody's own kernel, as `just try` compiles it");
    experiment.ceiling(gpu, ceilings::device_read);
    auto& study = experiment.study("spmv").axis("matrix", datasets.set("gpu"));

    study.types<float, double>([&]<class T>(bench::Trial& trial) {
        Problem<T> problem{datasets, trial};
        spmv_gpu_variants::Variants<T> variants{trial, problem, gpu};
        variants.add_single_kernels();
        variants.add_tables();
        variants.add_atomics_and_wide_loads();
        variants.add_formats("csr");
        variants.add_padded();
        variants.add_formats("format");
        variants.add_plan();
        variants.add_tried(tried);
        variants.add_roof();
        variants.add_cusparse(experiment);
        trial.run();
    });
    auto& misses = experiment.study("x_misses")
                       .axis("matrix", datasets.set("gpu-irregular"))
                       .axis("columns", {"own", "folded"});
    misses.types<float, double>([&]<class T>(bench::Trial& trial) {
        Problem<T> problem{datasets, trial};
        if (trial.text("columns") == "folded") {
            spmv_gpu_variants::fold_columns(problem.a);
        }
        spmv_gpu_variants::Variants<T> variants{trial, problem, gpu};
        variants.add_gathers();
        trial.run();
    });
    return experiment.run();
}
