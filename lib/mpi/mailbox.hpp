#pragma once

#include "mpi/communicator.hpp"
#include "mpi/shared_array.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mpi {

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
    /// and throws, as `SharedMemory`. `host` must outlive this.
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
    std::span<T> mine(std::uint64_t turn) const { return box(part(rank_), turn); }

private:
    std::span<std::byte> part(int rank) const { return parts_[static_cast<std::size_t>(rank)]; }
    static std::span<T> box(std::span<std::byte> part, std::uint64_t turn);

    SharedMemory memory_;
    int rank_;
    std::vector<std::span<std::byte>> parts_; ///< of all ranks, from a page on
    std::uint64_t turn_ = 0;
    std::uint64_t before_ = 0;   ///< bytes that came into this turn's box in the turns before
    std::uint64_t awaited_[2]{}; ///< bytes into the boxes of even and odd turns up to now
};

} // namespace mpi
