#include "variants.hpp"

#include "ceilings/probes.hpp"
#include "mpi/ranks.hpp"
#include "sparse/io/matrix_market.hpp"

#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace {

/// The bandwidth of reading of so many ranks together.
bench::Ceiling read_on_all_ranks(int ranks, int threads)
{
    auto ceiling = ceilings::read_beyond(
        bench::host().cache_bytes() / static_cast<std::size_t>(ranks), threads);
    ceiling.work.bytes *= ranks;
    return ceiling;
}

/// Bytes of messages round a ring, from eight, which cost nothing but latency, to a megabyte; whole
/// elements in every precision.
bench::AxisValues message_bytes()
{
    bench::AxisValues values{8, 512, 4096, 32'768, 262'144, 1'048'576};
    values.require = [](bench::Parameter const& value) {
        if (auto const bytes = std::get<std::int64_t>(value); bytes <= 0 || bytes % 8 != 0) {
            throw std::invalid_argument{"--bytes: found " + std::to_string(bytes) +
                                        ", expected a multiple of 8"};
        }
    };
    return values;
}

/// Nonzeros of the files that are read.
bench::AxisValues nonzeros_in_file()
{
    bench::AxisValues values;
    values.tiny = {20'000};
    values.quick = {200'000};
    values.full = {10'000'000};
    return values;
}

/// Measures how a matrix comes from a file to the ranks: rank 0 reads it and deals out the rows, or
/// every rank reads a part. The file is written first, to the folder for temporary files.
void measure_reading(bench::Trial& trial, mpi::Communicator const& world)
{
    if (world.hosts() > 1) {
        trial.not_applicable("ranks on several hosts share no folder for temporary files");
    }
    auto const nonzeros = trial.integer("nonzeros");
    auto const rows = std::max<std::int64_t>(1, nonzeros / 10);
    auto const fill = trial.fill(); // on every rank, as all of them count their fills
    std::int64_t process = getpid();
    world.broadcast(std::span{&process, 1});
    auto const file = std::filesystem::temp_directory_path() /
                      ("memwall-" + std::to_string(process) + ".mtx"); // for all ranks of a host
    std::shared_ptr<void> const removal{nullptr, [&](void*) {
                                            std::error_code ignored;
                                            if (world.is_root()) {
                                                std::filesystem::remove(file, ignored);
                                            }
                                        }};
    distributed::Rows<double> whole;
    std::int64_t bytes = 0;
    if (world.is_root()) {
        constexpr std::int64_t window = 1000;
        whole = distributed::filled<double>(
            sparse::local_rows<std::int64_t>(rows, nonzeros, window, 1), fill);
        sparse::write_matrix_market(file, whole.view());
        bytes = static_cast<std::int64_t>(std::filesystem::file_size(file));
    }
    world.broadcast(std::span{&bytes, 1});
    auto const mine =
        distributed::deal_from_root(world, whole, distributed::equal_rows(rows, world.size()));
    whole = {};

    trial.work({.bytes = static_cast<double>(bytes)});
    trial.cache(bench::Cache::cold);
    // What a rank holds in the end: ends of rows, after a zero, and columns and values of nonzeros.
    auto const output = [&](auto const& wanted) {
        return trial.output<double>(wanted.size())
            .expect([&wanted] {
                return bench::Expected{{wanted.begin(), wanted.end()},
                                       std::vector<double>(wanted.size(), 0.0)};
            })
            .on();
    };
    auto const copy = [](auto const& from, std::span<double> to) {
        if (from.size() != to.size()) {
            throw std::runtime_error{"found " + std::to_string(from.size()) +
                                     " numbers, expected " + std::to_string(to.size())};
        }
        std::ranges::copy(from, to.begin());
    };
    auto const add = [&, end = output(mine.row_ptr), column = output(mine.col),
                      value = output(mine.values)](std::string const& name, auto read) {
        auto const call = [=, &world] {
            auto const rows_here = read(world, file);
            copy(rows_here.row_ptr, end);
            copy(rows_here.col, column);
            copy(rows_here.values, value);
        };
        trial.add(name, call).group("read");
    };
    add("root_read", distributed::read_on_root<double>);
    add("parallel_read", distributed::read_matrix_market<double>);
    trial.run();
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
    experiment.study("weak_scaling").types<float, double>([&]<class T>(bench::Trial& trial) {
        partitioning::measure_weak_scaling<T>(trial, world);
    });
    if (world.size() > 1) {
        experiment.study("ring")
            .axis("bytes", message_bytes())
            .types<float, double>(
                [&]<class T>(bench::Trial& trial) { partitioning::measure_ring<T>(trial, world); });
        experiment.study("read")
            .axis("nonzeros", nonzeros_in_file())
            .untyped([&](bench::Trial& trial) { measure_reading(trial, world); });
    }
    return experiment.run();
}
