#include "causes.hpp"

namespace serial_steps {

void add_causes(bench::Experiment& experiment, sparse::Datasets& datasets)
{
    auto const add = [&](std::string const& name, std::string const& set, auto measure) {
        auto const matrices = datasets.set_beyond_cache(set, bench::host().cache_bytes());
        experiment.study(name).axis("matrix", matrices).untyped([=, &datasets](auto& trial) {
            measure(datasets, trial);
        });
    };
    add("chain", "row-lengths", chain);
    add("suspects", "suspects", suspects);
    add("columns", "one-run", columns);
    add("flags", "row-lengths", flags);
    add("gathers", "row-lengths", gathers);
}

} // namespace serial_steps
