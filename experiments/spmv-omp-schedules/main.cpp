#include "experiments/spmv_peers.hpp"
#include "experiments/spmv_tried.hpp"

#include "causes.hpp"
#include "ceilings/probes.hpp"
#include "overheads.hpp"
#include "schedules.hpp"
#include "spmv/steps/openmp.hpp"
#include "spmv/steps/serial.hpp"

/// SpMV on all cores: who gets which rows, and what does dealing them out cost?
int main(int argc, char** argv)
{
    sparse::Datasets datasets;
    bench::Experiment experiment{"spmv-omp-schedules", argc, argv};
    std::string tried;
    experiment.option("tried", &tried, tried_help);
    experiment.ceiling(ceilings::read);
    auto& study = experiment.study("spmv").axis(
        "matrix", datasets.set_beyond_cache("threads", bench::host().cache_bytes()));

    study.types<float, double>([&]<class T>(bench::Trial& trial) {
        Problem<T> problem{datasets, trial};
        auto const& a = problem.a;
        auto const x = problem.x.on();
        auto const y = problem.y.on();
        int const threads = trial.threads();
        trial.add("unroll4", [&] { spmv::unroll4<T>(a, x, y); }).group("serial");
        if (a.rows <= schedules::few_rows) {
            schedules::add_false_sharing(trial, problem);
            trial.run();
            return;
        }

        schedules::add_family(trial, problem, "static", spmv::static_rows<T>,
                              spmv::static_chunks<T>);
        schedules::add_family(trial, problem, "dynamic", spmv::dynamic_rows<T>,
                              spmv::dynamic_chunks<T>);
        schedules::add_family(trial, problem, "guided", spmv::guided_rows<T>,
                              spmv::guided_chunks<T>);
        trial.add("nnz_balanced", [&] { spmv::nnz_balanced<T>(a, x, y, threads); }).group("even");
        trial.add("nnz_stealing", [&] { spmv::nnz_stealing<T>(a, x, y, threads); }).group("even");
        trial.add("merge_path", [&] { spmv::merge_path<T>(a, x, y, threads); }).group("even");
        schedules::add_first_touch(trial, problem);
        add_tried(trial, problem, tried);
        add_peers(experiment, trial, problem, peers::Tuning::off); // about threads, not formats
        trial.run();
    });
    experiment.study("overheads").axis("rows", overheads::rows()).untyped(overheads::measure);
    schedules::add_causes(experiment, datasets);
    return experiment.run();
}
