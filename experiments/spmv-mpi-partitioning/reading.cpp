#include "reading.hpp"

#include "distributed/partition.hpp"
#include "distributed/read.hpp"
#include "distributed/redistribution.hpp"
#include "sparse/io/matrix_market.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace partitioning {

namespace {

using distributed::Rows;

/// A file for all ranks of a host, which rank 0 names and removes.
class SharedFile
{
public:
    explicit SharedFile(mpi::Communicator const& world) : is_mine_{world.is_root()}
    {
        auto const folder = std::filesystem::temp_directory_path();
        std::vector<std::int64_t> process{static_cast<std::int64_t>(getpid())};
        world.broadcast<std::int64_t>(process);
        path_ = folder / ("memwall-" + std::to_string(process[0]) + ".mtx");
    }
    ~SharedFile()
    {
        std::error_code ignored;
        if (is_mine_) {
            std::filesystem::remove(path_, ignored);
        }
    }
    SharedFile(SharedFile const&) = delete;
    SharedFile& operator=(SharedFile const&) = delete;

    std::filesystem::path const& path() const { return path_; }

private:
    bool is_mine_;
    std::filesystem::path path_;
};

/// What a rank holds in the end, as outputs of a trial.
struct Held
{
    Held(bench::Trial& trial, Rows<double> const& wanted)
        : end{declare(trial, wanted.row_ptr)}, column{declare(trial, wanted.col)},
          value{declare(trial, wanted.values)}
    {
    }

    /// Throws `std::runtime_error` if it is not as much as is wanted.
    void take(Rows<double> const& rows) const
    {
        copy(rows.row_ptr, end);
        copy(rows.col, column);
        copy(rows.values, value);
    }

private:
    template <class Numbers>
    static std::span<double> declare(bench::Trial& trial, Numbers const& wanted)
    {
        return trial.output<double>(wanted.size())
            .expect([&wanted] {
                return bench::Expected{{wanted.begin(), wanted.end()},
                                       std::vector<double>(wanted.size(), 0.0)};
            })
            .on();
    }

    template <class Numbers>
    static void copy(Numbers const& from, std::span<double> to)
    {
        if (from.size() != to.size()) {
            throw std::runtime_error{"found " + std::to_string(from.size()) +
                                     " numbers, expected " + std::to_string(to.size())};
        }
        std::ranges::transform(from, to.begin(),
                               [](auto number) { return static_cast<double>(number); });
    }

    std::span<double> end;    ///< of each row, after a zero
    std::span<double> column; ///< of each nonzero
    std::span<double> value;  ///< of each nonzero
};

} // namespace

bench::AxisValues nonzeros_in_file()
{
    using Count = std::int64_t;
    bench::AxisValues values;
    values.tiny = {Count{20'000}};
    values.quick = {Count{200'000}};
    values.full = {Count{10'000'000}};
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
    SharedFile const file{world};
    Rows<double> whole;
    std::vector<std::int64_t> bytes{0};
    if (world.is_root()) {
        constexpr std::int64_t window = 1000;
        whole = distributed::filled<double>(
            sparse::local_rows<std::int64_t>(rows, nonzeros, window, 1), fill);
        sparse::write_matrix_market(file.path(), whole.view());
        bytes[0] = static_cast<std::int64_t>(std::filesystem::file_size(file.path()));
    }
    world.broadcast<std::int64_t>(bytes);
    auto const mine =
        distributed::deal_from_root(world, whole, distributed::equal_rows(rows, world.size()));
    whole = {};

    trial.work({.bytes = static_cast<double>(bytes[0])});
    trial.cache(bench::Cache::cold);
    Held const held{trial, mine};
    trial
        .add("root_read", [&] { held.take(distributed::read_on_root<double>(world, file.path())); })
        .group("read");
    trial
        .add("parallel_read",
             [&] { held.take(distributed::read_matrix_market<double>(world, file.path())); })
        .group("read");
    trial.run();
}

} // namespace partitioning
