#pragma once

#include "distributed/partition.hpp"

#include "sparse/csr.hpp"

#include <cstddef>
#include <cstdint>

namespace distributed {

/// What a partition asks of its ranks, known before anything is sent.
///
/// A ghost of a rank is a column that its rows touch and another rank owns: an element of `x` that
/// has to travel before the rows can be finished. A message carries all ghosts from one rank to
/// another.
struct Traffic
{
    int ranks = 0;                  ///< of the partition
    std::int64_t nonzeros = 0;      ///< of all ranks
    std::int64_t most_nonzeros = 0; ///< of the rank with the most
    std::int64_t last_nonzeros = 0; ///< of the last rank
    std::int64_t most_rows = 0;     ///< of the rank with the most
    std::int64_t idle_ranks = 0;    ///< without a nonzero
    std::int64_t ghosts = 0;        ///< of all ranks
    std::int64_t most_ghosts = 0;   ///< of the rank with the most
    std::int64_t messages = 0;      ///< that all ranks receive
    std::int64_t most_messages = 0; ///< that one rank receives

    /// Nonzeros of the busiest rank over the mean: 1 is perfect, `ranks` is one rank that does
    /// everything. 1 without nonzeros.
    double imbalance() const { return over_mean(most_nonzeros); }

    /// Nonzeros of the last rank over the mean; as above.
    double last() const { return over_mean(last_nonzeros); }

    /// Bytes that travel for each multiply with elements of `element` bytes.
    std::int64_t bytes(std::size_t element) const
    {
        return ghosts * static_cast<std::int64_t>(element);
    }

private:
    double over_mean(std::int64_t of_rank) const;
};

/// Who owns which elements of `x` when `rows` says who owns which elements of `y`: of a square
/// matrix the same rank, else equal shares.
Partition columns_with(Partition const& rows, std::int64_t columns);

/// The traffic of `a` under a partition of its rows and one of its columns into as many ranks.
template <class I>
Traffic traffic(sparse::PatternView<I> const& a, Partition const& rows, Partition const& columns);

} // namespace distributed
