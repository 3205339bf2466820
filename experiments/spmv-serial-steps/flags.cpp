#include "causes.hpp"

#include "spmv/steps/flag_ladder.hpp"

namespace serial_steps {

void flags(sparse::Datasets& datasets, bench::Trial& trial)
{
    Problem<double> problem{datasets, trial};
    auto const& a = problem.a;
    auto const x = problem.x.on();
    auto const y = problem.y.on();
    trial.cache(bench::Cache::warm);
    for (auto const& kernel : spmv::flags_removed<double>()) {
        trial.add(kernel, [=, &a] { kernel(a, x, y); }).excerpt("textbook_flags").group("loop");
    }
    trial.run();
}

} // namespace serial_steps
