#include "causes.hpp"

#include "experiments/spmv_causes.hpp"
#include "spmv/steps/openmp.hpp"
#include "spmv/steps/suspects.hpp"

namespace schedules {

void waiting(sparse::Datasets& datasets, bench::Trial& trial)
{
    Problem<double> problem{datasets, trial};
    auto const add = [&](std::string const& name, auto change) -> bench::Variant& {
        auto const multiply = [threads = trial.threads()](auto const& a, auto x, auto y) {
            spmv::static_rows<double>(a, x, y, threads);
        };
        return add_changed(trial, problem, name, change, multiply).group("suspect");
    };
    add("as_stored", [](auto const& a) { return a; }).excerpt("static_rows");
    add("equal_rows", spmv::equal_rows<double>);
    add("x_in_order", spmv::x_in_order<double>);
    add("equal_rows_x_in_order", [](auto const& a) {
        return spmv::x_in_order(spmv::equal_rows(a));
    }).excerpt("x_in_order");
    trial.run();
}

} // namespace schedules
