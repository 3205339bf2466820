#include "experiments/spmv_formats.hpp"

#include "ceilings/probes.hpp"
#include "spmv/formats/blocked_coo/blocked_coo.hpp"
#include "spmv/formats/kernels.hpp"
#include "spmv/steps/serial.hpp"

#include <algorithm>
#include <string_view>
#include <type_traits>

namespace {

/// Whether anything is compared with a variant on a matrix: in the sweep, CSR and formats of runs;
/// on the classes that only claims speak of, what these name, which is CSR in single precision.
template <class T>
bool is_compared(std::string_view variant, std::string_view matrix, bool only_by_claims)
{
    bool const is_csr = variant == "csr" || variant == "csrl";
    if (matrix.starts_with("runs-")) {
        return is_csr || variant == "packed_csrl" || variant == "masked_blocks";
    }
    return !only_by_claims || variant.starts_with("blocked_coo") ||
           (is_csr && std::is_same_v<T, float>);
}

} // namespace

/// Formats: which matrix gains by being stored in which way?
int main(int argc, char** argv)
{
    sparse::Datasets datasets;
    bench::Experiment experiment{"spmv-formats", argc, argv};
    std::string kernels;
    experiment.option("kernels", &kernels,
                      "avx512_gather, avx512, avx2 or baseline; default: the best");
    experiment.ceiling(ceilings::read);
    auto const of_claims = datasets.set("formats-of-claims").quick;
    auto& study = experiment.study("spmv").axis(
        "matrix", datasets.set_beyond_cache("formats", bench::host().cache_bytes()));
    study.types<float, double>([&]<class T>(bench::Trial& trial) {
        Problem<T> problem{datasets, trial};
        spmv::format_kernels<T>(kernels); // refuses a name that this processor has not
        auto const& matrix = trial.text("matrix");
        bool const only_by_claims = std::ranges::find(of_claims, matrix) != of_claims.end();

        if (is_compared<T>("accumulator", matrix, only_by_claims)) {
            auto const plain_loop = [&a = problem.a, x = problem.x.on(), y = problem.y.on()] {
                spmv::accumulator<T>(a, x, y);
            };
            trial.add("accumulator", plain_loop).group("step");
        }
        for (auto const& format : spmv::plan_formats()) {
            std::string const name{format.name};
            if (!is_compared<T>(name, matrix, only_by_claims)) {
                trial.skip(name, "nothing is compared with it on this matrix").group("format");
                continue;
            }
            auto& variant = trial.add(name, by_plan(problem, {.threads = trial.threads(),
                                                              .cold = trial.is_cold(),
                                                              .format = name,
                                                              .kernels = kernels}));
            variant.excerpt(std::string{format.excerpt}).group("format");
            if (name == "blocked_coo8") {
                auto const bytes = sparse::bytes_of_tiles_in_csr(problem.a.view(), 256, sizeof(T));
                variant.count("bytes_of_tiles_in_csr", static_cast<double>(bytes));
            }
        }
        trial.run();
    });
    return experiment.run();
}
