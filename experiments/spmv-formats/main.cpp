#include "experiments/spmv_peers.hpp"

#include "ceilings/probes.hpp"
#include "sparse/blocked_coo.hpp"
#include "spmv/format_kernels.hpp"
#include "spmv/plan.hpp"
#include "spmv/serial.hpp"

/// Formats: which matrix is best stored in which way, and can a library choose?
int main(int argc, char** argv)
{
    sparse::Datasets datasets;
    bench::Experiment experiment{"spmv-formats", argc, argv};
    std::int64_t builds = 0;
    std::string kernels;
    experiment.option("builds", &builds,
                      "1: measure all ways to build a format that the plan compares");
    experiment.option("kernels", &kernels,
                      "avx512_gather, avx512, avx2 or baseline; default: the best");
    experiment.ceiling(ceilings::read);
    auto& study = experiment.study("spmv").axis(
        "matrix", datasets.set_beyond_cache("formats", bench::host().cache_bytes()));
    study.types<float, double>([&]<class T>(bench::Trial& trial) {
        Problem<T> problem{datasets, trial};
        auto const& a = problem.a;
        auto const x = problem.x.on();
        auto const y = problem.y.on();
        spmv::format_kernels<T>(kernels); // refuses a name that this processor has not
        auto const tiles_in_csr =
            static_cast<double>(sparse::bytes_of_tiles_in_csr(a.view(), 256, sizeof(T)));
        spmv::PlanOptions const options{
            .threads = trial.threads(), .cold = trial.is_cold(), .kernels = kernels};
        auto const planned = [&](std::string_view format, int trials = 1) {
            return [&, name = std::string{format}, trials](bench::Variant& variant) {
                try {
                    auto options_of = options;
                    options_of.format = name;
                    options_of.trials = trials;
                    auto const plan = variant.keep(spmv::Plan<T>{a, options_of});
                    variant.note(plan->explain());
                    variant.count("bytes_of_tiles_in_csr", tiles_in_csr);
                    return [&, plan] { (*plan)(x, y); };
                } catch (std::length_error const& refusal) {
                    variant.not_applicable(refusal.what());
                }
            };
        };

        trial.add("accumulator", [&] { spmv::accumulator<T>(a, x, y); }).group("step");
        for (auto const& format : spmv::plan_formats()) {
            trial.add(std::string{format.name}, planned(format.name))
                .excerpt(std::string{format.excerpt})
                .group("format");
        }
        for (auto const& name :
             builds != 0 ? spmv::plan_builds<T>(a, options) : std::vector<std::string>{}) {
            trial.add(name, planned(name)).excerpt("plan").group("build");
        }
        trial.add("plan", planned("")).group("plan");
        if (trial.is_cold() && datasets.stands_for_larger(trial.text("matrix"))) {
            trial.skip("plan_timed", "caches could hold what is multiplied cold").group("plan");
        } else {
            trial.add("plan_timed", planned("", 3)).excerpt("trial").group("plan");
        }
        add_peers(experiment, trial, problem);
        trial.run();
    });
    return experiment.run();
}
