#include "studies.hpp"

#include "distributed/read.hpp"
#include "sparse/catalogue/generators.hpp"
#include "sparse/io/matrix_market.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace partitioning {

bench::AxisValues nonzeros_in_file()
{
    bench::AxisValues values;
    values.tiny = {20'000};
    values.quick = {200'000};
    values.full = {10'000'000};
    return values;
}

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

} // namespace partitioning
