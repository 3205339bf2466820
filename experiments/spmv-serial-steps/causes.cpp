#include "causes.hpp"

#include "experiments/spmv_causes.hpp"

namespace serial_steps {

void add_causes(bench::Experiment& experiment, sparse::Datasets& datasets)
{
    add_cause(experiment, datasets, "chain", "row-lengths", chain);
    add_cause(experiment, datasets, "suspects", "suspects", suspects);
    add_cause(experiment, datasets, "columns", "one-run", columns);
    add_cause(experiment, datasets, "flags", "row-lengths", flags);
    add_cause(experiment, datasets, "gathers", "row-lengths", gathers);
}

} // namespace serial_steps
