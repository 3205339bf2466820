#include "experiments/spmv_formats.hpp"
#include "experiments/spmv_peers.hpp"

#include "ceilings/probes.hpp"
#include "spmv/formats/kernels.hpp"

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
        spmv::format_kernels<T>(kernels); // refuses a name that this processor has not
        auto const planned = [&](std::string_view format, bool timed = true) {
            return by_plan(problem, {.threads = trial.threads(),
                                     .cold = trial.is_cold(),
                                     .timed = timed,
                                     .format = std::string{format},
                                     .kernels = kernels});
        };

        for (auto const& format : spmv::plan_formats()) {
            trial.add(std::string{format.name}, planned(format.name))
                .excerpt(std::string{format.excerpt})
                .group("format");
        }
        trial.add("plan", planned("")).group("plan");
        trial.add("plan_untimed", planned("", false)).excerpt("plan").group("plan");
        add_peers(experiment, trial, problem);
        trial.run();
    });
    return experiment.run();
}
