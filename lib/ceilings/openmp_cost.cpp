#include "ceilings/openmp_cost.hpp"

#include <omp.h>

#include <cstddef>

namespace ceilings {

namespace {

/// On a line of its own, so that counting costs no thread another's line.
struct PaddedCounter
{
    alignas(128) std::uint64_t value = 0;
};

std::vector<std::uint64_t> values(std::vector<PaddedCounter> const& counters)
{
    std::vector<std::uint64_t> result;
    for (auto const& counter : counters) {
        result.push_back(counter.value);
    }
    return result;
}

} // namespace

//! [parallel_region]
std::vector<std::uint64_t> parallel_regions(int threads, std::uint64_t regions)
{
    std::vector<PaddedCounter> entered(static_cast<std::size_t>(threads));
    for (std::uint64_t region = 0; region < regions; ++region) {
#pragma omp parallel num_threads(threads)
        ++entered[static_cast<std::size_t>(omp_get_thread_num())].value;
    }
    return values(entered);
}
//! [parallel_region]

//! [barrier]
std::vector<std::uint64_t> barriers(int threads, std::uint64_t barriers)
{
    std::vector<PaddedCounter> passed(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
    for (std::uint64_t barrier = 0; barrier < barriers; ++barrier) {
#pragma omp barrier
        ++passed[static_cast<std::size_t>(omp_get_thread_num())].value;
    }
    return values(passed);
}
//! [barrier]

} // namespace ceilings
