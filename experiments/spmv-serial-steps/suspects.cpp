#include "causes.hpp"

#include "experiments/spmv_causes.hpp"
#include "spmv/steps/serial.hpp"
#include "spmv/steps/suspects.hpp"

namespace serial_steps {

void suspects(sparse::Datasets& datasets, bench::Trial& trial)
{
    Problem<double> problem{datasets, trial};
    auto const add = [&](std::string const& name, auto change) -> bench::Variant& {
        return add_changed(trial, problem, name, change, spmv::accumulator<double>)
            .group("suspect");
    };
    add("as_stored", [](auto const& a) { return a; }).excerpt("accumulator");
    add("equal_rows", spmv::equal_rows<double>);
    add("x_in_order", spmv::x_in_order<double>);
    add("equal_rows_x_in_order", [](auto const& a) {
        return spmv::x_in_order(spmv::equal_rows(a));
    }).excerpt("x_in_order");
    trial.run();
}

} // namespace serial_steps
