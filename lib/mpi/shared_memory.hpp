#pragma once

#include "mpi/communicator.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

namespace mpi {

/// Elements that all ranks of a communicator on one host read and write, each of them owner of a
/// part; the parts lie one after the other in the order of ranks. Made and freed by all ranks
/// together; a rank that leaves by an exception frees nothing, as others may not come. `T` is
/// float, double or std::byte.
template <class T>
class SharedArray
{
public:
    /// `count` elements of this rank's part, zeros. Throws `std::runtime_error` if ranks are on
    /// several hosts or there is not as much memory to be shared.
    SharedArray(Communicator const& communicator, std::size_t count);
    ~SharedArray();
    SharedArray(SharedArray const&) = delete;
    SharedArray& operator=(SharedArray const&) = delete;

    /// This rank's part, and all parts.
    std::span<T> mine() const { return mine_; }
    std::span<T const> all() const { return all_; }

    /// The part of a rank; throws `std::runtime_error` if MPI does not tell.
    std::span<T> part(int rank) const;

    /// Returns when all ranks have called it; what they wrote before it is there for all.
    void publish() const;

private:
    Communicator const& communicator_;
    int uncaught_ = std::uncaught_exceptions();
    MPI_Win window_ = MPI_WIN_NULL;
    std::span<T> mine_;
    std::span<T const> all_;
};

/// A box for each rank of a host, into which the others write what it reads, turn by turn: no
/// message, and no copy but the writer's own. Every rank has two boxes and reads them by turns, so
/// that a writer waits only for a reader that is more than a turn behind. `T` is float or double.
///
/// In each turn every rank calls `begin`, then `open` and `deliver` for each rank it writes to, and
/// at last `wait`.
template <class T>
class Mailbox
{
public:
    /// Two boxes of `count` elements for this rank. Made and freed by all ranks of `host` together,
    /// and throws, as `SharedArray`. `host` must outlive this.
    Mailbox(Communicator const& host, std::size_t count);

    /// Begins a turn: what came in the turn before is read, and its box may be written again.
    void begin();

    /// Turns that were begun.
    std::uint64_t turn() const { return turn_; }

    /// The box of `rank` for this turn, as soon as that rank has begun the turn after the one that
    /// filled it.
    std::span<T> open(int rank) const;

    /// Tells `rank` that `count` more elements are in its box.
    void deliver(int rank, std::size_t count) const;

    /// This rank's box of this turn, as soon as `count` elements were delivered.
    std::span<T const> wait(std::size_t count);

    /// Bytes that were delivered in this turn, as those who wrote them counted; after `wait`.
    std::int64_t delivered_bytes() const;

    /// This rank's box of a turn, for what comes another way.
    std::span<T> mine(std::uint64_t turn) const { return box(rank_, turn); }

private:
    struct Head;
    Head& head(int rank) const;
    std::span<T> box(int rank, std::uint64_t turn) const;

    SharedArray<std::byte> memory_;
    int rank_;
    std::vector<std::span<std::byte>> parts_; ///< of all ranks, from a page on
    std::uint64_t turn_ = 0;
    std::uint64_t before_ = 0;   ///< bytes that came into this turn's box in the turns before
    std::uint64_t awaited_[2]{}; ///< bytes into the boxes of even and odd turns up to now
};

} // namespace mpi
