#include "studies.hpp"

#include "ceilings/probes.hpp"
#include "distributed/partition.hpp"
#include "mpi/ranks.hpp"
#include "peers/petsc.hpp"

#include <string>

namespace {

/// The bandwidth of reading of so many ranks together.
bench::Ceiling read_on_all_ranks(int ranks, int threads)
{
    auto ceiling = ceilings::read_beyond(
        bench::host().cache_bytes() / static_cast<std::size_t>(ranks), threads);
    ceiling.work.bytes *= ranks;
    return ceiling;
}

} // namespace

/// SpMV on many ranks: who gets which rows, and how does x come to them?
int main(int argc, char** argv)
{
    mpi::Ranks ranks{argc, argv};
    auto const& world = ranks.world();
    peers::Petsc const petsc;
    sparse::Datasets datasets;
    bench::Experiment experiment{"spmv-mpi-partitioning", argc, argv, ranks};
    experiment.ceiling([&](int threads) { return read_on_all_ranks(world.size(), threads); });
    experiment.library("petsc", peers::Petsc::version());
    experiment.library("graph partitioner", std::string{distributed::graph_partitioner()});

    experiment.study("matrix")
        .axis("matrix", datasets.set("ranks"))
        .types<float, double>([&]<class T>(bench::Trial& trial) {
            partitioning::measure_matrix<T>(trial, world, datasets);
        });
    experiment.study("apart")
        .axis("matrix", datasets.set("ranks-apart"))
        .types<double>([&]<class T>(bench::Trial& trial) {
            partitioning::measure_apart<T>(trial, world, datasets);
        });
    experiment.study("weak_scaling").types<float, double>([&]<class T>(bench::Trial& trial) {
        partitioning::measure_weak_scaling<T>(trial, world);
    });
    if (world.size() > 1) {
        experiment.study("ring")
            .axis("bytes", partitioning::message_bytes())
            .types<float, double>(
                [&]<class T>(bench::Trial& trial) { partitioning::measure_ring<T>(trial, world); });
        experiment.study("read")
            .axis("nonzeros", partitioning::nonzeros_in_file())
            .untyped([&](bench::Trial& trial) { partitioning::measure_reading(trial, world); });
    }
    return experiment.run();
}
