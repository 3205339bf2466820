#pragma once

#include "distributed/partition.hpp"

#include "mpi/communicator.hpp"
#include "sparse/csr.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace distributed {

/// Some rows of a matrix that no rank holds as a whole: `rows` of them are here, `columns` and
/// `col` are those of the whole matrix.
template <class T>
using Rows = sparse::Csr<T, std::int64_t>;

/// Moves what belongs to rows from the ranks of one partition to those of another; all calls are
/// collective.
class Redistribution
{
public:
    /// Both partitions are of the same rows, into as many parts as there are ranks; throws
    /// `std::invalid_argument` if not. The communicator must outlive this.
    Redistribution(mpi::Communicator const& communicator, Partition const& from,
                   Partition const& to);

    /// One value for each row, in order of places. `T` as in `mpi::datatype`.
    template <class T>
    std::vector<T> values(std::span<T const> mine) const;

    /// Whole rows, in order of places. `T` is float or double.
    template <class T>
    Rows<T> rows(Rows<T> const& mine) const;

private:
    mpi::Communicator const& communicator_;
    std::vector<std::int64_t> outgoing_; ///< local rows, by the rank they go to
    std::vector<int> sent_;              ///< rows to each rank
    std::vector<std::int64_t> incoming_; ///< local rows, in the order in which they come
    std::vector<int> received_;          ///< rows from each rank
};

/// All rows belong to rank 0.
Partition all_on_root(std::int64_t rows, int ranks);

/// Rank 0's partition, on every rank.
Partition broadcast(mpi::Communicator const& communicator, Partition const& partition);

/// Deals the rows of a matrix that rank 0 holds; what other ranks pass is not looked at. `to` has
/// to be known to every rank.
template <class T>
Rows<T> deal_from_root(mpi::Communicator const& communicator, Rows<T> const& whole,
                       Partition const& to);

} // namespace distributed
