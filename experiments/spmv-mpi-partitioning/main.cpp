#include "points.hpp"
#include "variants.hpp"

#include "mpi/team.hpp"

/// SpMV on many ranks: who gets which rows, and how does x come to them?
int main(int argc, char** argv)
{
    mpi::Environment const environment{argc, argv};
    peers::Petsc const petsc;
    mpi::Communicator const world;
    int const ranks = world.size();
    auto const cache = machine::last_level_cache_bytes();
    bench::CacheFlush flush{cache / static_cast<std::size_t>(ranks)};
    sparse::Datasets datasets;
    bench::Experiment experiment{"spmv-mpi-partitioning", argc, argv,
                                 std::make_unique<mpi::Team>()};
    experiment.clock(std::make_unique<mpi::MaxClock>(std::make_unique<bench::HostClock>()));
    experiment.axis("matrix", partitioning::points(datasets, ranks));
    experiment.ceiling([=](int threads) {
        return partitioning::ReadOnAllRanks{threads, cache, ranks};
    });
    experiment.library("petsc", peers::Petsc::version());
    experiment.library("graph partitioner", std::string{distributed::graph_partitioner()});

    return experiment.each<float, double>(
        [&]<class T>(bench::Point const& at, bench::Trial<T>& trial) {
            auto const& name = at.text("matrix");
            trial.flush_with([&] { flush(); });
            if (name.starts_with(partitioning::ring)) {
                partitioning::measure_ring(trial, world, partitioning::ring_bytes(name));
            } else if (name == partitioning::weak_scaling) {
                partitioning::measure_weak_scaling(trial, world);
            } else {
                partitioning::measure_matrix(trial, world, datasets, name);
            }
        });
}
