#include "halo.hpp"
#include "studies.hpp"

#include "sparse/catalogue/generators.hpp"

#include <cmath>
#include <cstdint>
#include <utility>

namespace partitioning {

template <class T>
void measure_weak_scaling(bench::Trial& trial, mpi::Communicator const& world)
{
    if (world.size() == 1 && trial.threads() > 1) {
        trial.not_applicable("it grows with the ranks, of which there is one");
    }
    // A rank has about 100,000 rows in company as alone: 32 MB in double precision, far more than
    // the caches of a core hold.
    double const rows_of_a_rank = trial.is_test() ? 1e3 : 100e3;
    auto const side = std::llround(std::cbrt(rows_of_a_rank * world.size()));
    auto const rows = side * side * side;
    auto pattern = sparse::stencil27<std::int64_t>(side, distributed::equal_share(world, rows));
    Product<T> product{world, distributed::filled<T>(std::move(pattern), trial.fill()), rows,
                       trial};
    trial.cache(bench::Cache::cold);
    add_halo(trial, product, contiguous_partitioner("equal"));
    add_halo(trial, product, contiguous_partitioner("equal"), awaited);
    trial.run();
}
template void measure_weak_scaling<float>(bench::Trial&, mpi::Communicator const&);
template void measure_weak_scaling<double>(bench::Trial&, mpi::Communicator const&);

} // namespace partitioning
