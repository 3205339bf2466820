#pragma once

#include "mpi/communicator.hpp"

#include <mpi.h>

#include <cstddef>
#include <exception>
#include <span>

namespace mpi {

/// Memory that all ranks of a communicator on one host read and write, each of them owner of a
/// part; the parts lie one after the other in the order of ranks. Made and freed by all ranks
/// together; a rank that leaves by an exception frees nothing, as others may not come.
class SharedMemory
{
public:
    /// `bytes` of this rank's part, zeros. Throws `std::runtime_error` if ranks are on several
    /// hosts or there is not as much memory to be shared.
    SharedMemory(Communicator const& communicator, std::size_t bytes);
    ~SharedMemory();
    SharedMemory(SharedMemory const&) = delete;
    SharedMemory& operator=(SharedMemory const&) = delete;

    /// This rank's part, and all parts.
    std::span<std::byte> mine() const { return mine_; }
    std::span<std::byte> all() const { return all_; }

    /// The part of a rank; throws `std::runtime_error` if MPI does not tell.
    std::span<std::byte> part(int rank) const;

    /// Returns when all ranks have called it; what they wrote before it is there for all.
    void publish() const;

private:
    Communicator const& communicator_;
    int uncaught_ = std::uncaught_exceptions();
    MPI_Win window_ = MPI_WIN_NULL;
    std::span<std::byte> mine_;
    std::span<std::byte> all_;
};

/// `SharedMemory` of elements.
template <class T>
class SharedArray
{
public:
    /// `count` elements on this rank.
    SharedArray(Communicator const& communicator, std::size_t count)
        : memory_{communicator, count * sizeof(T)}
    {
    }

    std::span<T> mine() const { return elements(memory_.mine()); }
    std::span<T const> all() const { return elements(memory_.all()); }
    void publish() const { memory_.publish(); }

private:
    static std::span<T> elements(std::span<std::byte> bytes)
    {
        return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
    }

    SharedMemory memory_;
};

} // namespace mpi
