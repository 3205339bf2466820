#include "causes.hpp"

#include "spmv/steps/openmp.hpp"

namespace schedules {

void regions(sparse::Datasets& datasets, bench::Trial& trial)
{
    Problem<double> problem{datasets, trial};
    auto const& a = problem.a;
    auto const x = problem.x.on();
    auto const y = problem.y.on();
    int const threads = trial.threads();
    constexpr int times = 16;
    trial.cache(bench::Cache::warm);
    trial.work({.flops = times * spmv::work<double>(a).flops, .operations = times});
    auto const add = [&](std::string const& name, auto multiply) {
        trial.add(name, [=, &a] { multiply(a, x, y, threads, times); }).group("region");
    };
    add("region_each", spmv::region_each<double>);
    add("region_once", spmv::region_once<double>);
    add("no_barriers", spmv::no_barriers<double>);
    trial.run();
}

} // namespace schedules
