#include "causes.hpp"

#include "spmv/steps/one_run.hpp"
#include "spmv/steps/simd.hpp"

namespace serial_steps {

void gathers(sparse::Datasets& datasets, bench::Trial& trial)
{
    Problem<double> problem{datasets, trial};
    auto const& a = problem.a;
    if (!spmv::has_one_run_a_row<double>(a)) {
        trial.not_applicable("a row is no run of columns");
    }
    auto const x = problem.x.on();
    auto const y = problem.y.on();
    trial.cache(bench::Cache::warm);
    auto const add = [&](auto const& kernel) -> bench::Variant& {
        return trial.add(kernel, [=, &a] { kernel(a, x, y); }).group("gathers");
    };
    auto const [inserted, gathered, loaded] = spmv::vectors_of_x();
    add(inserted).excerpt("scalar_inserts");
    add(gathered).excerpt("avx2_gather");
    add(loaded);
    trial.run();
}

} // namespace serial_steps
