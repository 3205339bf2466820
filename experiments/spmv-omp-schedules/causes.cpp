#include "causes.hpp"

#include "experiments/spmv_causes.hpp"

namespace schedules {

void add_causes(bench::Experiment& experiment, sparse::Datasets& datasets)
{
    add_cause(experiment, datasets, "dealing", "in-cache", dealing);
    add_cause(experiment, datasets, "regions", "in-cache", regions);
    add_cause(experiment, datasets, "imbalance", "power-law", imbalance);
    add_cause(experiment, datasets, "halves", "power-law", halves);
    add_cause(experiment, datasets, "waiting", "uneven", waiting);
}

} // namespace schedules
