#include "experiments/spmv_formats.hpp"
#include "experiments/spmv_peers.hpp"

#include "ceilings/probes.hpp"

/// How to choose a format: the plan beside every format and every library.
int main(int argc, char** argv)
{
    sparse::Datasets datasets;
    bench::Experiment experiment{"spmv-plan", argc, argv};
    std::string kernels;
    experiment.option("kernels", &kernels,
                      "avx512_gather, avx512, avx2 or baseline; default: the best");
    experiment.ceiling(ceilings::read);
    auto& study = experiment.study("spmv").axis(
        "matrix", datasets.set_beyond_cache("plan", bench::host().cache_bytes()));
    study.types<float, double>([&]<class T>(bench::Trial& trial) {
        Problem<T> problem{datasets, trial};
        for (auto const& format : spmv::plan_formats()) {
            add_format(trial, problem, format, kernels);
        }
        auto options = plan_options<T>(trial, kernels);
        trial.add("plan", by_plan(problem, options)).group("plan");
        options.timed = false;
        trial.add("plan_untimed", by_plan(problem, options)).excerpt("plan").group("plan");
        add_peers(experiment, trial, problem);
        trial.run();
    });
    return experiment.run();
}
