#include "gemm.hpp"

#include "ceilings/probes.hpp"

/// Matrix multiply: what does each idea gain, from three loops to the libraries?
int main(int argc, char** argv)
{
    cuda::Gpu gpu;
    bench::Experiment experiment{"gemm-cpu-to-gpu", argc, argv};
    gemm::add_options(experiment);
    experiment.ceiling(ceilings::read).ceiling(ceilings::fma<float>).ceiling(ceilings::fma<double>);

    cuda::add_studies(experiment, gpu);
    auto& cpu = experiment.study("cpu").axis("size", gemm::sizes_on_host());
    cpu.types<float, double>([&]<class T>(bench::Trial& trial) {
        experiment.library("openblas", gemm::openblas().version)
            .library("mkl", peers::MklGemm{trial.threads()}.version);
        gemm::on_host<T>(trial);
    });
    return experiment.run();
}
