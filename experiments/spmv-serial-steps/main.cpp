#include "experiments/spmv_peers.hpp"
#include "experiments/spmv_tried.hpp"

#include "causes.hpp"
#include "ceilings/probes.hpp"
#include "spmv/steps/flag_ladder.hpp"
#include "spmv/steps/serial.hpp"
#include "spmv/steps/simd.hpp"

/// Serial SpMV: how far is textbook CSR from the memory bound?
int main(int argc, char** argv)
{
    sparse::Datasets datasets;
    bench::Experiment experiment{"spmv-serial-steps", argc, argv};
    std::string tried;
    experiment.option("tried", &tried, tried_help);
    experiment.ceiling(ceilings::read);
    auto& study = experiment.study("spmv").axis(
        "matrix", datasets.set_beyond_cache("serial", bench::host().cache_bytes()));

    study.types<float, double>([&]<class T>(bench::Trial& trial) {
        Problem<T> problem{datasets, trial};
        auto const& a = problem.a;
        auto const x = problem.x.on();
        auto const y = problem.y.on();

        for (auto const& rung : spmv::flag_ladder<T>()) {
            trial.add(rung, [&] { rung(a, x, y); }).excerpt("textbook_flags").group("flags");
        }
        trial.add("textbook", [&] { spmv::textbook<T>(a, x, y); }).group("step");
        trial.add("accumulator", [&] { spmv::accumulator<T>(a, x, y); }).group("step");
        trial.add("restrict_pointers", [&] { spmv::restrict_pointers<T>(a, x, y); }).group("step");
        auto const align = [&](bench::Variant& variant) {
            return
                [&, copy = variant.keep(spmv::AlignedCsr<T>{a})] { spmv::aligned<T>(*copy, x, y); };
        };
        trial.add("aligned", align).group("step");
        trial.add("unroll4", [&] { spmv::unroll4<T>(a, x, y); }).group("step");
        trial.add("unroll4_scalar", [&] { spmv::unroll4_scalar<T>(a, x, y); })
            .excerpt("unroll4")
            .group("step");
        trial.add("prefetch", [&] { spmv::prefetch<T>(a, x, y); }).group("step");
        for (auto const& kernel : spmv::simd_kernels<T>()) {
            trial.add(kernel, [&] { kernel(a, x, y); }).group("simd");
        }
        add_tried(trial, problem, tried);
        add_peers(experiment, trial, problem);
        trial.run();
    });
    serial_steps::add_causes(experiment, datasets);
    return experiment.run();
}
