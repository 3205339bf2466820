#include "causes.hpp"

#include "spmv/steps/one_run.hpp"
#include "spmv/steps/serial.hpp"

namespace serial_steps {

void columns(sparse::Datasets& datasets, bench::Trial& trial)
{
    Problem<double> problem{datasets, trial};
    auto const& a = problem.a;
    if (!spmv::has_one_run_a_row<double>(a)) {
        trial.not_applicable("a row is no run of columns");
    }
    auto const x = problem.x.on();
    auto const y = problem.y.on();
    trial.add("columns32", [=, &a] { spmv::unroll4_scalar<double>(a, x, y); })
        .excerpt("unroll4")
        .group("columns");
    auto const offsets = [=, &a](bench::Variant& variant) {
        return [=, copy = variant.keep(spmv::OneRunCsr{a})] { spmv::offsets16(*copy, x, y); };
    };
    trial.add("offsets16", offsets).group("columns");
    auto const none = [=, &a](bench::Variant& variant) {
        spmv::OneRunCsr without{a};
        without.offset = {};
        return [=, copy = variant.keep(std::move(without))] { spmv::no_columns(*copy, x, y); };
    };
    trial.add("no_columns", none).group("columns");
    trial.run();
}

} // namespace serial_steps
