#pragma once

#include "bench/target.hpp"
#include "mpi/communicator.hpp"

#include <optional>
#include <string>

namespace mpi {

/// Starts MPI and ends it with the scope. Errors come back as codes, which `check` turns into
/// exceptions.
class Environment
{
public:
    Environment(int& argc, char**& argv);
    ~Environment();
    Environment(Environment const&) = delete;
    Environment& operator=(Environment const&) = delete;
};

/// The ranks of a communicator as a team that measures together. Ranks sleep while they wait for
/// each other.
class Team : public bench::Team
{
public:
    int rank() const override { return communicator_.rank(); }
    int size() const override { return communicator_.size(); }
    int hosts() const override { return hosts_; }
    std::uint64_t from_root(std::uint64_t value) override;
    bool all(bool value) override { return maximum(value ? 0 : 1) == 0; }
    double maximum(double value) override;

    /// If all ranks fail within two seconds, as they do where a user's error is the cause, rank 0
    /// tells why. Of a rank that fails alone the others would wait for ever: it names itself and
    /// ends them all.
    int failed(std::string const& reason) override;

private:
    Communicator communicator_;
    int hosts_ = communicator_.hosts();
    Communicator failures_; ///< used by nobody else, as ranks may fail within any other call
};

/// Wall time from where all ranks start together until the slowest is done, on every rank. Ranks
/// that are done sleep, so that they take nothing from those that share their core.
class MaxClock : public bench::HostClock
{
public:
    std::string name() const override { return "max-over-ranks(host)"; }
    double seconds(std::function<void()> const& batch) override;

private:
    Communicator communicator_;
};

/// All ranks of MPI together as a target: each works on its own processors and memory, and the time
/// of the slowest counts. Starts MPI and ends it with the scope, so it is made first in `main`.
class Ranks : public bench::Target
{
public:
    Ranks(int& argc, char**& argv) : environment_{argc, argv} {}

    Communicator const& world() const { return world_; }

    std::string name() const override { return "ranks"; }
    std::size_t cache_bytes() override { return bench::host().cache_bytes(); }

    /// Each rank evicts its share of the caches.
    void flush() override
    {
        if (!flush_) {
            flush_.emplace(cache_bytes() / static_cast<std::size_t>(world_.size()));
        }
        (*flush_)();
    }

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
