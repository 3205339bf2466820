#pragma once

#include "distributed/partition.hpp"

#include "mpi/communicator.hpp"
#include "mpi/shared_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace distributed {

/// How elements come from other ranks of the same host; from other hosts they come in messages.
enum class OnHost
{
    memory,  ///< their owner writes them into memory of the rank that reads them
    messages ///< as from other hosts
};

/// Brings the elements of a distributed vector that this rank reads and others own: from each rank
/// of another host in a persistent message, from those of its own host through memory that both
/// see. `T` is float or double.
template <class T>
class Halo
{
public:
    /// `ghosts` are the places to be read, in ascending order, none of them this rank's own.
    /// Made and freed by all ranks together, and throws, as `mpi::SharedArray`. The communicator
    /// must outlive this.
    Halo(mpi::Communicator const& communicator, std::vector<std::int64_t> const& ghosts,
         Partition const& owners, OnHost on_host = OnHost::memory);

    /// Sends this rank's elements to those who read them; `mine` has an element for each of its
    /// places. Waits for nobody but a reader that has not begun the start before this one: until
    /// then it may still read what came with the one before that.
    void start(std::span<T const> mine);

    /// As `start` where `mine` is as in the last two starts: what they chose of it is sent again.
    void start_again();

    /// Waits for what others sent; the ghosts, in their order, until the next start.
    std::span<T const> finish();

    /// The ghosts that came last, without a start.
    std::span<T const> last() const { return box_.mine(box_.turn()).first(ghosts_); }

    /// Elements that this rank gets from others each time.
    std::size_t ghosts() const { return ghosts_; }

    /// Ranks that this rank gets elements from.
    int sources() const { return sources_; }

    /// Bytes that came between the last start and its finish, as MPI or their writers counted them.
    std::int64_t received_bytes() const;

private:
    /// Elements for a rank of this host.
    struct Reader
    {
        int rank;          ///< on this host
        std::size_t place; ///< where they begin among its ghosts
        std::vector<std::int32_t> elements;
    };

    /// Elements for a rank of another host.
    struct Message
    {
        explicit Message(std::vector<std::int32_t> own)
            : elements{std::move(own)}, values(elements.size())
        {
        }

        std::vector<std::int32_t> elements;
        std::vector<T> values;
    };

    /// Those of this turn.
    mpi::Requests& requests() { return requests_[box_.turn() % 2]; }

    std::size_t ghosts_;
    std::size_t written_here_ = 0; ///< ghosts from ranks of this host
    int sources_ = 0;
    mpi::Communicator host_;
    mpi::Mailbox<T> box_; ///< of all ghosts
    std::vector<Reader> readers_;
    std::vector<Message> messages_;
    mpi::Requests requests_[2]; ///< of even and odd turns; they point into the boxes and messages
};

} // namespace distributed
