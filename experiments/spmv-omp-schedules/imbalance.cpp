#include "causes.hpp"

#include "experiments/spmv_causes.hpp"
#include "spmv/steps/openmp.hpp"
#include "spmv/steps/serial.hpp"
#include "spmv/steps/suspects.hpp"

namespace schedules {

void imbalance(sparse::Datasets& datasets, bench::Trial& trial)
{
    Problem<double> problem{datasets, trial};
    auto const multiply = [threads = trial.threads()](auto const& a, auto x, auto y) {
        spmv::static_rows<double>(a, x, y, threads);
    };
    add_changed(
        trial, problem, "rows_as_stored", [](auto const& a) { return a; }, multiply)
        .excerpt("static_rows")
        .group("balance");
    add_changed(trial, problem, "rows_shuffled", spmv::shuffled_rows<double>, multiply)
        .excerpt("shuffled_rows")
        .group("balance");
    trial.run();
}

void halves(sparse::Datasets& datasets, bench::Trial& trial)
{
    if (trial.threads() != 1) {
        trial.not_applicable("halves are multiplied by one thread");
    }
    Problem<double> problem{datasets, trial};
    auto const add = [&](std::string const& name, auto change) -> bench::Variant& {
        return add_changed(trial, problem, name, change, spmv::unroll4<double>).group("half");
    };
    auto const first = [](auto const& a) { return spmv::half_of(a, true); };
    auto const second = [](auto const& a) { return spmv::half_of(a, false); };
    add("first_half", first).excerpt("unroll4");
    add("second_half", second).excerpt("unroll4");
    add("first_half_in_rows_of_second", [=](auto const& a) {
        return spmv::in_rows_of(first(a), second(a));
    }).excerpt("in_rows_of");
    add("second_half_in_rows_of_first", [=](auto const& a) {
        return spmv::in_rows_of(second(a), first(a));
    }).excerpt("in_rows_of");
    trial.run();
}

} // namespace schedules
