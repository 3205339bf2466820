// Run by mpirun with four ranks: reading together must take each of them a part of what reading
// alone takes, and a matrix must keep no rows that its format does not read.
#include "distributed/matrix.hpp"
#include "distributed/read.hpp"

#include "mpi/ranks.hpp"
#include "sparse/catalogue/generators.hpp"
#include "sparse/io/matrix_market.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <malloc.h>
#include <memory>
#include <span>
#include <string>

namespace {

/// A size of this process in /proc/self/status, in bytes: "VmRSS", or "VmHWM" for the highest.
std::int64_t memory(std::string const& key)
{
    std::ifstream status{"/proc/self/status"};
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(key + ":")) {
            return std::stoll(line.substr(key.size() + 1)) * 1024;
        }
    }
    return 0;
}

/// How far the resident memory rises above what it is now while `action` runs.
std::int64_t peak_of(std::function<void()> const& action)
{
    malloc_trim(0);
    std::ofstream{"/proc/self/clear_refs"} << 5; // the highest so far is forgotten
    auto const before = memory("VmRSS");
    action();
    return memory("VmHWM") - before;
}

/// How far the resident memory lies above what it was when `action` has run.
std::int64_t kept_by(std::function<void()> const& action)
{
    malloc_trim(0);
    auto const before = memory("VmRSS");
    action();
    malloc_trim(0);
    return memory("VmRSS") - before;
}

/// Reads a file alone, then together.
bool reads_in_parts(mpi::Communicator const& world, std::filesystem::path const& file)
{
    constexpr std::int64_t nonzeros = 2'000'000;
    std::int64_t alone = 0;
    if (world.is_root()) {
        auto const pattern = sparse::random_rows(nonzeros / 20, nonzeros / 20, 20, 1);
        sparse::write_matrix_market(file, sparse::PatternView<>{pattern});
        alone = peak_of([&] { sparse::read_matrix_market<double, std::int64_t>(file); });
    }
    world.barrier();
    distributed::Rows<double> rows;
    auto const together = world.maximum(
        peak_of([&] { rows = distributed::read_matrix_market<double>(world, file); }));
    bool const complete = world.sum(static_cast<std::int64_t>(rows.nonzeros())) == nonzeros;
    alone = world.maximum(alone);
    // A quarter of all, up to twice at once where entries are sent on, and messages in between.
    bool const small = together < alone * 3 / 5 && together < nonzeros / world.size() * 120;
    if (world.is_root()) {
        std::filesystem::remove(file);
        std::printf("peak of a rank %.1f MB, of one rank alone %.1f MB\n",
                    static_cast<double>(together) / 1e6, static_cast<double>(alone) / 1e6);
    }
    return small && complete;
}

/// Builds a matrix of this rank's rows in a format of its own and in one that reads the rows.
bool keeps_one_format(mpi::Communicator const& world, std::string const& format)
{
    constexpr std::int64_t side = 70;
    auto const columns = distributed::equal_rows(side * side * side, world.size());
    std::unique_ptr<distributed::HaloMatrix<double>> matrix;
    auto const kept = kept_by([&] {
        auto const rows = distributed::filled<double>(
            sparse::stencil27<std::int64_t>(side, distributed::equal_share(world, columns.rows())),
            [](std::span<double> values) { std::ranges::fill(values, 1.0); });
        matrix = std::make_unique<distributed::HaloMatrix<double>>(world, rows, columns,
                                                                   distributed::always(format));
    });
    auto const most = world.maximum(kept);
    auto const stored = static_cast<std::int64_t>(matrix->bytes()) / world.size();
    if (world.is_root()) {
        std::printf("%s: %.1f MB kept of a format of %.1f MB a rank\n", format.c_str(),
                    static_cast<double>(most) / 1e6, static_cast<double>(stored) / 1e6);
    }
    return most < stored * 5 / 4 + 2'000'000; // the halo, and what is left in free lists
}

} // namespace

/// The only argument is a folder for a file.
int main(int argc, char** argv)
{
    mpi::Environment const environment{argc, argv};
    mpi::Communicator const world;
    auto const file = std::filesystem::path{argv[argc - 1]} / "memory-test.mtx";
    bool const is_small = reads_in_parts(world, file) && keeps_one_format(world, "csr") &&
                          keeps_one_format(world, "sell16");
    return world.all(is_small) ? 0 : 1;
}
