#include "causes.hpp"

#include "experiments/spmv_causes.hpp"
#include "spmv/steps/openmp.hpp"

namespace schedules {

void waiting(sparse::Datasets& datasets, bench::Trial& trial)
{
    Problem<double> problem{datasets, trial};
    add_suspects(trial, problem, "static_rows",
                 [threads = trial.threads()](auto const& a, auto x, auto y) {
                     spmv::static_rows<double>(a, x, y, threads);
                 });
    trial.run();
}

} // namespace schedules
