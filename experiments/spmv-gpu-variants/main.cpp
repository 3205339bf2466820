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
        spmv_gpu_variants::OnGpu<T> on_gpu{problem, gpu};
        spmv_gpu_variants::add_single_kernels(trial, on_gpu);
        spmv_gpu_variants::add_tables(trial, on_gpu);
        spmv_gpu_variants::add_atomics(trial, on_gpu);
        spmv_gpu_variants::add_wide_loads(trial, on_gpu);
        spmv_gpu_variants::add_formats(trial, on_gpu, "csr");
        spmv_gpu_variants::add_padded(trial, on_gpu);
        spmv_gpu_variants::add_formats(trial, on_gpu, "format");
        spmv_gpu_variants::add_plan(trial, on_gpu);
        spmv_gpu_variants::add_tried(trial, on_gpu, tried);
        spmv_gpu_variants::add_roof(trial, on_gpu, problem, gpu);
        spmv_gpu_variants::add_cusparse(experiment, trial, on_gpu);
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
        spmv_gpu_variants::OnGpu<T> on_gpu{problem, gpu};
        spmv_gpu_variants::add_gathers(trial, on_gpu);
        trial.run();
    });
    return experiment.run();
}
