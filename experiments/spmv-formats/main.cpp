#include "studies.hpp"

#include "experiments/spmv_formats.hpp"

#include "ceilings/probes.hpp"
#include "spmv/formats/blocked_coo/blocked_coo.hpp"
#include "spmv/steps/serial.hpp"

#include <algorithm>
#include <set>

/// Formats: which matrix gains by being stored in which way?
int main(int argc, char** argv)
{
    sparse::Datasets datasets;
    bench::Experiment experiment{"spmv-formats", argc, argv};
    std::string kernels;
    experiment.option("kernels", &kernels,
                      "avx512_gather, avx512, avx2 or baseline; default: the best");
    experiment.ceiling(ceilings::read);

    // All are compared but in the sweep, and on the classes that only claims speak of.
    std::set<std::string> const in_sweep{"csr", "csrl", "packed_csrl", "masked_blocks"};
    std::set<std::string> const in_claims{"csr", "csrl", "blocked_coo32", "blocked_coo16",
                                          "blocked_coo8"};
    auto const of_claims = datasets.set("formats-of-claims").quick;
    auto& study = experiment.study("spmv").axis(
        "matrix", datasets.set_beyond_cache("formats", bench::host().cache_bytes()));
    study.types<float, double>([&]<class T>(bench::Trial& trial) {
        Problem<T> problem{datasets, trial};
        auto const is_compared = [&, matrix = trial.text("matrix")](std::string const& name) {
            return matrix.starts_with("runs-")
                       ? in_sweep.contains(name)
                       : std::ranges::count(of_claims, matrix) == 0 || in_claims.contains(name);
        };
        if (is_compared("accumulator")) {
            auto const plain_loop = [&a = problem.a, x = problem.x.on(), y = problem.y.on()] {
                spmv::accumulator<T>(a, x, y);
            };
            trial.add("accumulator", plain_loop).group("step");
        }
        for (auto const& format : spmv::plan_formats()) {
            std::string const name{format.name};
            if (!is_compared(name)) {
                trial.skip(name, "nothing is compared with it on this matrix").group("format");
                continue;
            }
            auto& variant = add_format(trial, problem, format, kernels);
            if (name == "blocked_coo8") {
                auto const bytes = sparse::bytes_of_tiles_in_csr(problem.a.view(), 256, sizeof(T));
                variant.count("bytes_of_tiles_in_csr", static_cast<double>(bytes));
            }
        }
        trial.run();
    });
    spmv_formats::add_apart(experiment, datasets, kernels);
    return experiment.run();
}
