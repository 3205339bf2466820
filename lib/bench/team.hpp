#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace bench {

/// The processes that measure together. Rank 0 decides (order, sample counts) and the others
/// follow; a check passes only if it passes on every rank. The default is one process; `lib/mpi`
/// adapts a communicator.
class Team
{
public:
    virtual ~Team() = default;
    virtual int rank() const { return 0; }
    virtual int size() const { return 1; }

    /// Machines that the processes are on.
    virtual int hosts() const { return 1; }

    /// Rank 0's value, on every rank.
    virtual std::uint64_t from_root(std::uint64_t value) { return value; }

    /// True if `value` is true on every rank.
    virtual bool all(bool value) { return value; }

    /// Largest `value` of all ranks.
    virtual double maximum(double value) { return value; }

    /// Says in one line why the run ends early, and returns the program's exit code, 2.
    virtual int failed(std::string const& reason)
    {
        std::fprintf(stderr, "%s\n", reason.c_str());
        return 2;
    }
};

} // namespace bench
