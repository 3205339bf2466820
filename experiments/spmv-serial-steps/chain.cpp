#include "causes.hpp"

#include "spmv/steps/serial.hpp"

namespace serial_steps {

void chain(sparse::Datasets& datasets, bench::Trial& trial)
{
    Problem<double> problem{datasets, trial};
    auto const& a = problem.a;
    auto const x = problem.x.on();
    auto const y = problem.y.on();
    trial.cache(bench::Cache::warm);
    auto const add = [&](std::string const& name, auto multiply) -> bench::Variant& {
        return trial.add(name, [=, &a] { multiply(a, x, y); }).group("chain");
    };
    add("one_sum", spmv::accumulator<double>).excerpt("accumulator");
    add("four_sums", spmv::unroll4_scalar<double>).excerpt("unroll4");
    add("rows_in_turn", spmv::rows_in_turn<double>);
    trial.run();
}

} // namespace serial_steps
