#pragma once

#include "bench/clock.hpp"
#include "bench/team.hpp"
#include "mpi/communicator.hpp"

#include <mpi.h>

#include <memory>
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

/// Waits for a request and sleeps in between: MPI itself would keep the core busy, which others
/// need whose turn it is to measure.
void wait_asleep(MPI_Request& request);

/// The ranks of a communicator as a team that measures together. Ranks sleep while they wait for
/// each other.
class Team : public bench::Team
{
public:
    explicit Team(MPI_Comm communicator = MPI_COMM_WORLD);

    int rank() const override { return communicator_.rank(); }
    int size() const override { return communicator_.size(); }
    int hosts() const override { return hosts_; }
    std::uint64_t from_root(std::uint64_t value) override;
    bool all(bool value) override;
    double maximum(double value) override;
    double sum(double value) override;

    /// If all ranks fail within two seconds, as they do where a user's error is the cause, rank 0
    /// tells why. Of a rank that fails alone the others would wait for ever: it names itself and
    /// ends them all.
    int failed(std::string const& reason) override;

private:
    Communicator communicator_;
    int hosts_ = 1;
    Communicator failures_; ///< used by nobody else, as ranks may fail within any other call
};

/// Decorates a clock: all ranks start together, and the slowest rank's time counts, on every rank.
/// Ranks that are done sleep, so that they take nothing from those that share their core.
class MaxClock : public bench::Clock
{
public:
    MaxClock(std::unique_ptr<bench::Clock> clock, MPI_Comm communicator = MPI_COMM_WORLD);

    std::string name() const override;
    void wake() override;
    double seconds(std::function<void()> const& batch) override;
    double setup_seconds(std::function<void()> const& setup) override;

private:
    std::unique_ptr<bench::Clock> clock_;
    Communicator communicator_;
};

} // namespace mpi
