#include "variants.hpp"

#include "ceilings/probes.hpp"
#include "spmv/formats/blocked_coo/blocked_coo.hpp"
#include "spmv/formats/kernels.hpp"
#include "spmv/steps/serial.hpp"

#include <algorithm>

/// Formats: which matrix is best stored in which way, and can a library choose?
int main(int argc, char** argv)
{
    sparse::Datasets datasets;
    bench::Experiment experiment{"spmv-formats", argc, argv};
    std::string kernels;
    experiment.option("kernels", &kernels,
                      "avx512_gather, avx512, avx2 or baseline; default: the best");
    experiment.ceiling(ceilings::read);
    auto const brief = datasets.set("formats-brief").quick;
    auto& study = experiment.study("spmv").axis(
        "matrix", datasets.set_beyond_cache("formats", bench::host().cache_bytes()));
    study.types<float, double>([&]<class T>(bench::Trial& trial) {
        bool const is_brief = std::ranges::find(brief, trial.text("matrix")) != brief.end();
        if (is_brief && trial.threads() > 1) {
            trial.not_applicable("what is asked of it, one thread answers");
        }
        Problem<T> problem{datasets, trial};
        auto const& a = problem.a;
        auto const x = problem.x.on();
        auto const y = problem.y.on();
        spmv::format_kernels<T>(kernels); // refuses a name that this processor has not
        auto const tiles_in_csr =
            static_cast<double>(sparse::bytes_of_tiles_in_csr(a.view(), 256, sizeof(T)));
        auto const planned = [&](std::string_view format, bool timed = true) {
            return formats::by_plan<T>(problem,
                                       {.threads = trial.threads(),
                                        .cold = trial.is_cold(),
                                        .timed = timed,
                                        .format = std::string{format},
                                        .kernels = kernels},
                                       tiles_in_csr);
        };

        trial.add("accumulator", [&] { spmv::accumulator<T>(a, x, y); }).group("step");
        formats::add_formats(trial, is_brief, planned);
        if (is_brief) {
            formats::skip_choices<T>(trial);
            trial.run();
            return;
        }
        trial.add("plan", planned("")).group("plan");
        trial.add("plan_untimed", planned("", false)).excerpt("plan").group("plan");
        add_peers(experiment, trial, problem);
        trial.run();
    });
    return experiment.run();
}
