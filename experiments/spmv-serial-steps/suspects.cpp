#include "causes.hpp"

#include "experiments/spmv_causes.hpp"
#include "spmv/steps/serial.hpp"

namespace serial_steps {

void suspects(sparse::Datasets& datasets, bench::Trial& trial)
{
    Problem<double> problem{datasets, trial};
    add_suspects(trial, problem, "accumulator", spmv::accumulator<double>);
    trial.run();
}

} // namespace serial_steps
