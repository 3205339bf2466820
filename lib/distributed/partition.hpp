#pragma once

#include "sparse/csr.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// \file
/// Which rank owns which rows of a matrix. Everything here is computed in one process: a partition
/// for ten thousand ranks needs none of them.

namespace distributed {

/// Rows dealt to ranks, each row to one rank.
///
/// Rows are owned in order of their *places*: rank r has the places `begin(r)` to `end(r)`. In a
/// contiguous partition the place of a row is its number; else a permutation, which takes 16 bytes
/// for each row of the matrix, leads from one to the other.
class Partition
{
public:
    /// Contiguous: rank r owns the rows `bounds[r]` to `bounds[r + 1]`. Throws
    /// `std::invalid_argument` unless the bounds begin with 0 and never decrease.
    explicit Partition(std::vector<std::int64_t> bounds = {0});

    /// Row i belongs to `rank_of_row[i]`, 0 <= rank < `ranks`. Throws `std::invalid_argument` for
    /// other ranks.
    Partition(std::span<std::int32_t const> rank_of_row, int ranks);

    int ranks() const { return static_cast<int>(bounds_.size()) - 1; }
    std::int64_t rows() const { return bounds_.back(); }

    /// First place of a rank.
    std::int64_t begin(int rank) const { return bounds_[static_cast<std::size_t>(rank)]; }
    /// One past the last place of a rank.
    std::int64_t end(int rank) const { return bounds_[static_cast<std::size_t>(rank) + 1]; }
    /// Rows of a rank.
    std::int64_t size(int rank) const { return end(rank) - begin(rank); }

    /// Whether rows keep their order.
    bool is_contiguous() const { return place_.empty(); }

    /// The row at a place.
    std::int64_t row_at(std::int64_t place) const
    {
        return is_contiguous() ? place : row_[static_cast<std::size_t>(place)];
    }
    /// The place of a row.
    std::int64_t place_of(std::int64_t row) const
    {
        return is_contiguous() ? row : place_[static_cast<std::size_t>(row)];
    }
    /// The rank that owns a place.
    int owner_of(std::int64_t place) const;

    friend bool operator==(Partition const&, Partition const&) = default;

private:
    std::vector<std::int64_t> bounds_; ///< ranks + 1 places
    std::vector<std::int64_t> row_;    ///< by place
    std::vector<std::int64_t> place_;  ///< by row
};

/// A rank's elements of a vector that is here as a whole, in order of places.
template <class T>
std::vector<T> part_of(std::span<T const> whole, Partition const& partition, int rank)
{
    std::vector<T> part;
    part.reserve(static_cast<std::size_t>(partition.size(rank)));
    for (auto place = partition.begin(rank); place < partition.end(rank); ++place) {
        part.push_back(whole[static_cast<std::size_t>(partition.row_at(place))]);
    }
    return part;
}

/// The same number of rows for each rank, or one more.
Partition equal_rows(std::int64_t rows, int ranks);

// Ranks in turn take contiguous rows from where the one before has ended, up to their share of the
// nonzeros, total / ranks; what is left over at the end belongs to the last rank. `row_ptr` has
// rows + 1 offsets, 32 or 64 bits wide; `ranks` >= 1.

/// No rank but the last takes more than its share. A row that is longer than a share is never
/// taken, and with all rows behind it falls to the last rank.
template <class I>
Partition rounded_down(std::span<I const> row_ptr, int ranks);

/// Every rank takes its share or more, until nothing is left.
template <class I>
Partition rounded_up(std::span<I const> row_ptr, int ranks);

/// Even ranks take their share or more, odd ranks at most their share: the article's way.
template <class I>
Partition alternating(std::span<I const> row_ptr, int ranks);

/// Contiguous rows such that the rank with most nonzeros has as few as any contiguous partition
/// allows: bisection for that number, each guess tried by ranks that take as much as it allows
/// (Pinar and Aykanat, Fast optimal load balancing algorithms for 1D partitioning, 2004).
template <class I>
Partition least_bottleneck(std::span<I const> row_ptr, int ranks);

/// A way to deal out rows, by its name in experiments.
template <class I = std::int32_t>
struct Partitioner
{
    std::string name;
    Partition (*cut)(sparse::PatternView<I> const& a, int ranks);
};

/// The contiguous ones above: equal, floor, ceil, alternate, bottleneck.
template <class I>
std::vector<Partitioner<I>> contiguous_partitioners();

/// Name of the library that `by_graph` calls, with its version; empty if there was none when this
/// was built.
std::string_view graph_partitioner();

/// Rows that share columns are brought together: METIS, or else Scotch, cuts the graph of the
/// matrix and its transpose into parts of equal work with few edges between them. Deterministic.
///
/// Throws `std::invalid_argument` unless the matrix is square, `std::length_error` if the library's
/// index type cannot hold the graph, `std::runtime_error` if the library fails or there is none.
template <class I>
Partition by_graph(sparse::PatternView<I> const& a, int ranks);

} // namespace distributed
