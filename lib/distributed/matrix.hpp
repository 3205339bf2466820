#pragma once

#include "distributed/halo.hpp"
#include "distributed/partition.hpp"
#include "distributed/redistribution.hpp"

#include "mpi/communicator.hpp"
#include "mpi/shared_memory.hpp"
#include "sparse/csr.hpp"
#include "spmv/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// \file
/// `y = A x` on several ranks, which all have to call it. Every rank computes its rows of `y`, in
/// order of places, and chooses a format for them by itself. `T` is float or double.

namespace distributed {

/// Chooses the format of one rank's rows.
using Choice = std::function<spmv::PlanOptions(sparse::PatternView<> const& rows)>;

/// The article's rule: CSR by runs where there are fewer than 0.3 runs for each nonzero, else CSR.
spmv::PlanOptions by_runs(sparse::PatternView<> const& rows);

/// The same format on every rank, one of `spmv::plan_formats()`; empty for what `spmv::Plan` makes
/// of each rank's rows.
Choice always(std::string format);

/// The article's way: every rank has all of `x`.
template <class T>
class EverywhereMatrix
{
public:
    /// `slice` are this rank's rows. The communicator must outlive this.
    EverywhereMatrix(mpi::Communicator const& communicator, sparse::Csr<T> slice,
                     Partition const& rows, Choice const& choose);

    /// Multiplies all of `x`, which is here already, with this rank's rows.
    void multiply(std::span<T const> x, std::span<T> y) const;

    /// Multiplies where each rank has its part of `x`, as it has after a multiply with a square
    /// matrix: gathers all parts on all ranks first.
    void gather_and_multiply(std::span<T const> mine, std::span<T> y);

    /// Bytes of the matrix on all ranks, in the formats that they chose.
    std::size_t bytes() const { return bytes_; }

    /// Name of the format that this rank chose.
    std::string_view format() const { return plan_.format(); }

private:
    mpi::Communicator const& communicator_;
    sparse::Csr<T> slice_; ///< freed unless the plan reads it
    spmv::Plan<T> plan_;
    std::vector<int> counts_; ///< elements of `x` of each rank
    std::vector<int> places_; ///< where they begin
    std::vector<T> x_;
    std::size_t bytes_;
};

/// What rank 0 sends to each rank in the article: its rows of `whole`, with row offsets that begin
/// with 0. `rows` is contiguous and known everywhere; what other ranks pass for `whole` is not
/// looked at.
template <class T>
sparse::Csr<T> send_slices(mpi::Communicator const& communicator, sparse::Csr<T> const& whole,
                           Partition const& rows);

/// Rows with the places of their columns in place of their numbers, in ascending order.
template <class T>
Rows<T> by_places(Rows<T> rows, Partition const& columns);

/// The way of one host: every rank has its part of `x` in memory that all of them read.
template <class T>
class SharedMatrix
{
public:
    /// `mine` are this rank's rows of a matrix, `columns` says who owns which elements of `x`. The
    /// communicator must outlive this. Throws `std::length_error` if this rank's rows or the number
    /// of columns do not fit 32-bit indices, and `std::runtime_error` as `mpi::SharedArray` does.
    SharedMatrix(mpi::Communicator const& communicator, Rows<T> const& mine,
                 Partition const& columns, Choice const& choose);

    /// Tells all ranks this rank's part of `x`, waits for theirs and multiplies. `x` has an element
    /// for each of its places.
    void multiply(std::span<T const> x, std::span<T> y);

    /// Bytes of the matrix on all ranks, in the formats that they chose.
    std::size_t bytes() const { return bytes_; }

private:
    sparse::Csr<T> rows_; ///< freed unless the plan reads it
    spmv::Plan<T> plan_;
    mpi::SharedArray<T> x_;      ///< of every other multiply: who is ahead writes to the one
    mpi::SharedArray<T> next_x_; ///< that nobody reads any more
    bool is_next_ = false;
    std::size_t bytes_;
};

/// The scalable way: every rank has its part of `x`, and gets from others only what its rows touch.
template <class T>
class HaloMatrix
{
public:
    /// `mine` are this rank's rows of a matrix, `columns` says who owns which elements of `x`. The
    /// communicator must outlive this, which is freed by all ranks together. Throws
    /// `std::length_error` if a rank's share does not fit 32-bit indices, and as `Halo` does.
    HaloMatrix(mpi::Communicator const& communicator, Rows<T> const& mine, Partition const& columns,
               Choice const& choose, OnHost on_host = OnHost::memory);

    /// Computes what needs only this rank's part of `x` while the rest travels.
    void multiply(std::span<T const> x, std::span<T> y);

    /// As `multiply`, but waits for all of `x` first.
    void wait_and_multiply(std::span<T const> x, std::span<T> y);

    /// As `multiply` where `x` is as in the last two: what others read of it is not chosen anew.
    void multiply_again(std::span<T const> x, std::span<T> y);

    /// As `multiply` where what this rank reads of others is as in the last: nothing travels.
    void multiply_alone(std::span<T const> x, std::span<T> y);

    /// Bytes of the matrix on all ranks, in the formats that they chose.
    std::size_t bytes() const { return bytes_; }

    /// Name of the format that this rank chose for what needs only its part of `x`.
    std::string_view format() const { return inner_.format(); }

    /// Elements of `x` that this rank gets from others.
    std::size_t ghosts() const { return halo_.ghosts(); }

    /// How these come.
    Halo<T> const& halo() const { return halo_; }

private:
    struct Split;
    HaloMatrix(mpi::Communicator const& communicator, Split split, Partition const& columns,
               Choice const& choose, OnHost on_host);

    void add_border(std::span<T const> ghosts, std::span<T> y);

    sparse::Csr<T> own_;                   ///< all rows, own columns; freed unless read
    sparse::Csr<T> border_;                ///< rows with ghosts, ghost columns; freed unless read
    std::vector<std::int32_t> border_row_; ///< which rows these are
    std::vector<T> border_sum_;
    spmv::Plan<T> inner_;
    spmv::Plan<T> outer_;
    Halo<T> halo_;
    std::size_t bytes_;
};

} // namespace distributed
