#include "variants.hpp"

#include "ceilings/device_probes.hpp"
#include "ceilings/probes.hpp"

/// SpMV on a whole node against one GPU: how much must the GPU have at hand to win?
int main(int argc, char** argv)
{
    sparse::Datasets datasets;
    cuda::Gpu gpu;
    bench::Experiment experiment{"spmv-cpu-vs-gpu", argc, argv};
    experiment.ceiling(ceilings::read).ceiling(gpu, ceilings::device_read);
    auto& study = experiment.study("spmv").axis("matrix", datasets.set("gpu"));

    study.types<float, double>([&]<class T>(bench::Trial& trial) {
        Problem<T> p{datasets, trial};
        trial.add("plan", cpu_vs_gpu::on_host(p, trial));
        trial.add("gpu_plan", cpu_vs_gpu::resident(p, gpu)).on(gpu);
        trial.add("gpu_plan_and_vectors", cpu_vs_gpu::with_vectors(p, gpu)).on(gpu, bench::host());
        trial.add("gpu_csr_and_matrix", cpu_vs_gpu::with_matrix(p, gpu)).on(gpu, bench::host());
        trial.run();
    });
    return experiment.run();
}
