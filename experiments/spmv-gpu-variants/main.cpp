#include "variants.hpp"

#include "ceilings/device_probes.hpp"

#include <optional>

/// GPU SpMV: which kernel suits which matrix, and can a library choose?
int main(int argc, char** argv)
{
    sparse::Datasets datasets;
    bench::Experiment experiment{"spmv-gpu-variants", argc, argv};
    experiment.axis("matrix", datasets.set("gpu"));
    auto const missing = cuda::missing_device();
    if (missing.empty()) {
        experiment.ceiling([](int) { return ceilings::DeviceRead{}; });
    }
    std::optional<Gpu> gpu; // begins with the first point, where errors are reported

    return experiment.each<float, double>(
        [&]<class T>(bench::Point const& at, bench::Trial<T>& trial) {
            if (!missing.empty()) {
                trial.not_applicable(missing);
            }
            if (!gpu) {
                gpu.emplace();
            }
            GpuProblem<T> problem{datasets, at, trial, *gpu};
            spmv_gpu_variants::add_single_kernels(trial, problem);
            spmv_gpu_variants::add_tables(trial, problem);
            spmv_gpu_variants::add_balanced(trial, problem);
            spmv_gpu_variants::add_formats(trial, problem);
            spmv_gpu_variants::add_plan(trial, problem);
            spmv_gpu_variants::add_roof(trial, problem);
            add_cusparse(experiment, trial, problem);
            trial.run();
        });
}
