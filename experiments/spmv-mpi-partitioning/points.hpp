#pragma once

#include "bench/cache_flush.hpp"
#include "bench/experiment.hpp"
#include "ceilings/probes.hpp"
#include "machine/topology.hpp"
#include "mpi/communicator.hpp"
#include "sparse/datasets.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// What this experiment measures at, beside matrices.
namespace partitioning {

/// The 27-point stencil with the same number of rows on every rank: every rank makes its own.
inline constexpr std::string_view weak_scaling = "weak27";

/// Messages round a ring; their bytes follow.
inline constexpr std::string_view ring = "ring-";

/// Bytes of a message of a point like "ring-4096".
std::size_t ring_bytes(std::string_view point);

/// The matrices, then weak scaling, and messages where there is somebody to send them to.
bench::AxisValues points(sparse::Datasets const& datasets, int ranks);

/// Points along each side of the cube that all ranks share, such that a rank has about 100,000 rows
/// in company as alone: 32 MB in double precision, far more than the caches of a core hold.
std::int64_t weak_side(int ranks);

/// The bandwidth of reading of all ranks together.
class ReadOnAllRanks
{
public:
    ReadOnAllRanks(int threads, std::size_t cache_bytes, int ranks)
        : bytes{0}, probe_{threads, cache_bytes / static_cast<std::size_t>(ranks)}
    {
        bytes = probe_.bytes * ranks;
    }

    void pass() { probe_.pass(); }

    std::string name = "read";
    double bytes;
    double flops = 0;

private:
    ceilings::Read probe_;
};

} // namespace partitioning
