#pragma once

#include "bench/clock.hpp"
#include "bench/team.hpp"

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

/// The ranks of a communicator as a team that measures together. The communicator must outlive it.
class Team : public bench::Team
{
public:
    explicit Team(MPI_Comm communicator = MPI_COMM_WORLD);

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    std::uint64_t from_root(std::uint64_t value) override;
    bool all(bool value) override;
    double maximum(double value) override;
    double sum(double value) override;

private:
    MPI_Comm communicator_;
    int rank_ = 0;
    int size_ = 1;
};

/// Decorates a clock: all ranks start together, and the slowest rank's time counts, on every rank.
class MaxClock : public bench::Clock
{
public:
    MaxClock(std::unique_ptr<bench::Clock> clock, MPI_Comm communicator = MPI_COMM_WORLD);

    std::string name() const override;
    double seconds(std::function<void()> const& batch) override;
    double setup_seconds(std::function<void()> const& setup) override;

private:
    std::unique_ptr<bench::Clock> clock_;
    MPI_Comm communicator_;
};

} // namespace mpi
