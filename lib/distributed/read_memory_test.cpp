// Run by mpirun with four ranks: reading together must take each of them a part of what reading
// alone takes.
#include "distributed/read.hpp"

#include "mpi/team.hpp"
#include "sparse/generators.hpp"
#include "sparse/matrix_market.hpp"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <malloc.h>
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

} // namespace

/// The only argument is a folder for a file.
int main(int argc, char** argv)
{
    mpi::Environment const environment{argc, argv};
    mpi::Communicator const world;
    auto const file = std::filesystem::path{argv[argc - 1]} / "read-memory-test.mtx";
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
    return world.all(small && complete) ? 0 : 1;
}
