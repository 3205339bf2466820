#pragma once

#include "bench/trial.hpp"

#include <cstddef>

namespace machine_ceilings {

/// Results of kernels that are measured warm, one element for each block or thread.
template <class T>
bench::Output<T> warm_results(bench::Trial& trial, std::size_t count)
{
    trial.cache(bench::Cache::warm);
    return trial.output<T>(count);
}

} // namespace machine_ceilings
