#pragma once

#include "bench/cache_flush.hpp"
#include "bench/target.hpp"
#include "mpi/team.hpp"

#include <optional>
#include <string>

namespace mpi {

/// All ranks of MPI together as a target: each works on its own processors and memory, and the time
/// of the slowest counts. Starts MPI and ends it with the scope, so it is made first in `main`.
class Ranks : public bench::Target
{
public:
    Ranks(int& argc, char**& argv);

    Communicator const& world() const { return world_; }

    std::string name() const override { return "ranks"; }
    std::size_t cache_bytes() override { return bench::host().cache_bytes(); }

    /// Each rank evicts its share of the caches.
    void flush() override;

    bench::Clock& clock(bench::Cache) override { return clock_; }
    bench::Target& memory() override { return bench::host(); }
    bench::Team& team() override { return team_; }

private:
    Environment environment_; ///< first, as everything else needs it
    Communicator world_;
    Team team_;
    MaxClock clock_;
    std::optional<bench::CacheFlush> flush_;
};

} // namespace mpi
