#pragma once

#include "distributed/partition.hpp"

#include "mpi/communicator.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace distributed {

/// Brings the elements of a distributed vector that this rank reads and others own, with one
/// persistent message from each of them. `T` is float or double.
template <class T>
class Halo
{
public:
    /// `ghosts` are the places to be read, in ascending order, none of them this rank's own.
    /// Collective. The communicator must outlive this.
    Halo(mpi::Communicator const& communicator, std::vector<std::int64_t> const& ghosts,
         Partition const& owners);

    /// Packs this rank's elements that others read and starts all messages; `mine` has an element
    /// for each of its places.
    void start(std::span<T const> mine);

    /// Waits for what was started; the ghosts, in their order, until the next start.
    std::span<T const> finish();

    /// Elements that this rank gets from others each time.
    std::size_t ghosts() const { return ghosts_.size(); }

    /// Messages that this rank receives each time.
    int messages() const { return requests_.receives(); }

    /// Bytes that arrived the last time, as MPI counted them.
    std::int64_t received_bytes() const { return requests_.received_bytes(); }

private:
    std::vector<std::int32_t> outgoing_; ///< own elements, by the rank that reads them
    std::vector<T> sent_;
    std::vector<T> ghosts_;
    mpi::Requests requests_; ///< points into the two vectors above
};

} // namespace distributed
