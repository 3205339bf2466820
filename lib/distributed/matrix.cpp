#include "distributed/matrix.hpp"

#include "sparse/convert.hpp"
#include "sparse/features.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace distributed {

namespace {

/// The article's threshold.
constexpr double most_runs_per_nonzero = 0.3;

/// Ranks share a machine, so each of them multiplies on one thread.
template <class T>
spmv::Plan<T> plan(sparse::Csr<T> const& rows, Choice const& choose)
{
    auto options = choose(sparse::PatternView<>{rows});
    options.threads = 1;
    return spmv::Plan<T>{rows, options};
}

/// Frees rows that no multiply reads.
template <class T>
void keep_what_is_read(sparse::Csr<T>& rows, spmv::Plan<T> const& plan)
{
    if (!plan.borrows()) {
        rows = {};
    }
}

std::size_t over_all(mpi::Communicator const& communicator, std::size_t bytes)
{
    return static_cast<std::size_t>(communicator.sum(static_cast<std::int64_t>(bytes)));
}

/// Closes the row that was being written.
template <class T>
void end_row(sparse::Csr<T>& a)
{
    a.row_ptr.push_back(sparse::checked_index<std::int32_t>(a.col.size()));
    ++a.rows;
}

/// The rows of one rank, with offsets that begin with 0.
template <class T>
sparse::Csr<T> slice_of(sparse::Csr<T> const& whole, Partition const& rows, int rank)
{
    sparse::Csr<T> slice;
    slice.rows = static_cast<std::int32_t>(rows.size(rank));
    slice.columns = whole.columns;
    slice.row_ptr.assign(whole.row_ptr.begin() + rows.begin(rank),
                         whole.row_ptr.begin() + rows.end(rank) + 1);
    auto const first = slice.row_ptr.front();
    auto const last = slice.row_ptr.back();
    slice.col.assign(whole.col.begin() + first, whole.col.begin() + last);
    slice.values.assign(whole.values.begin() + first, whole.values.begin() + last);
    for (auto& offset : slice.row_ptr) {
        offset -= first;
    }
    return slice;
}

} // namespace

spmv::PlanOptions by_runs(sparse::PatternView<> const& rows)
{
    auto const features = sparse::features(rows);
    bool const has_runs =
        features.nonzeros > 0 && features.segments_per_nonzero() < most_runs_per_nonzero;
    return {.format = has_runs ? "csrl" : "csr"};
}

Choice always(std::string format)
{
    return [format = std::move(format)](sparse::PatternView<> const&) {
        return spmv::PlanOptions{.format = format};
    };
}

template <class T>
EverywhereMatrix<T>::EverywhereMatrix(mpi::Communicator const& communicator, sparse::Csr<T> slice,
                                      Partition const& rows, Choice const& choose)
    : communicator_{communicator}, slice_{std::move(slice)}, plan_{plan(slice_, choose)},
      bytes_{over_all(communicator, plan_.bytes())}
{
    if (rows.rows() == slice_.columns) { // else nothing makes a part of `x`
        for (int rank = 0; rank < rows.ranks(); ++rank) {
            counts_.push_back(mpi::checked_count(static_cast<std::size_t>(rows.size(rank))));
        }
        places_ = mpi::displacements(counts_);
        x_.resize(static_cast<std::size_t>(slice_.columns));
    }
    keep_what_is_read(slice_, plan_);
}

//! [everywhere]
template <class T>
void EverywhereMatrix<T>::multiply(std::span<T const> x, std::span<T> y) const
{
    plan_(x, y);
}
//! [everywhere]

//! [gather]
template <class T>
void EverywhereMatrix<T>::gather_and_multiply(std::span<T const> mine, std::span<T> y)
{
    mpi::check(MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), mpi::datatype<T>(),
                              x_.data(), counts_.data(), places_.data(), mpi::datatype<T>(),
                              communicator_.handle()),
               "MPI_Allgatherv");
    plan_(x_, y);
}
//! [gather]

template <class T>
sparse::Csr<T> send_slices(mpi::Communicator const& communicator, sparse::Csr<T> const& whole,
                           Partition const& rows)
{
    std::vector<std::int32_t> columns{whole.columns};
    communicator.broadcast<std::int32_t>(columns);
    sparse::Csr<T> mine;
    if (communicator.is_root()) {
        for (int rank = 1; rank < rows.ranks(); ++rank) {
            auto const slice = slice_of(whole, rows, rank);
            communicator.send<std::int32_t>(slice.row_ptr, rank);
            communicator.send<std::int32_t>(slice.col, rank);
            communicator.send<T>(slice.values, rank);
        }
        return slice_of(whole, rows, 0);
    }
    mine.rows = static_cast<std::int32_t>(rows.size(communicator.rank()));
    mine.columns = columns[0];
    mine.row_ptr.resize(static_cast<std::size_t>(mine.rows) + 1);
    communicator.receive<std::int32_t>(mine.row_ptr, 0);
    mine.col.resize(static_cast<std::size_t>(mine.row_ptr.back()));
    mine.values.resize(mine.col.size());
    communicator.receive<std::int32_t>(mine.col, 0);
    communicator.receive<T>(mine.values, 0);
    return mine;
}

template <class T>
Rows<T> by_places(Rows<T> rows, Partition const& columns)
{
    if (columns.is_contiguous()) {
        return rows;
    }
    std::vector<std::pair<std::int64_t, T>> entries;
    for (std::int64_t row = 0; row < rows.rows; ++row) {
        auto const begin = static_cast<std::size_t>(rows.row_ptr[row]);
        auto const end = static_cast<std::size_t>(rows.row_ptr[row + 1]);
        entries.clear();
        for (auto p = begin; p < end; ++p) {
            entries.emplace_back(columns.place_of(rows.col[p]), rows.values[p]);
        }
        std::ranges::sort(entries, {}, &std::pair<std::int64_t, T>::first);
        for (auto p = begin; p < end; ++p) {
            std::tie(rows.col[p], rows.values[p]) = entries[p - begin];
        }
    }
    return rows;
}

template <class T>
SharedMatrix<T>::SharedMatrix(mpi::Communicator const& communicator, Rows<T> const& mine,
                              Partition const& columns, Choice const& choose)
    : rows_{sparse::to_index<std::int32_t>(mine.view())}, plan_{plan(rows_, choose)},
      x_{communicator, static_cast<std::size_t>(columns.size(communicator.rank()))},
      next_x_{communicator, x_.mine().size()}, bytes_{over_all(communicator, plan_.bytes())}
{
    keep_what_is_read(rows_, plan_);
}

//! [shared]
template <class T>
void SharedMatrix<T>::multiply(std::span<T const> x, std::span<T> y)
{
    auto const& shared = is_next_ ? next_x_ : x_;
    is_next_ = !is_next_;
    std::ranges::copy(x, shared.mine().begin());
    shared.publish(); // nobody reads the other one any more
    plan_(shared.all(), y);
}
//! [shared]

/// The rows of a rank, cut into what needs only its part of `x` and what needs ghosts.
template <class T>
struct HaloMatrix<T>::Split
{
    sparse::Csr<T> own;
    sparse::Csr<T> border;
    std::vector<std::int32_t> border_row;
    std::vector<std::int64_t> ghosts; ///< places, ascending

    Split(Rows<T> const& mine, Partition const& columns, int rank)
    {
        auto const begin = columns.begin(rank);
        auto const end = columns.end(rank);
        auto const is_own = [=](std::int64_t place) { return place >= begin && place < end; };
        std::ranges::remove_copy_if(mine.col, std::back_inserter(ghosts), is_own);
        reserve(own, mine.nonzeros() - ghosts.size());
        reserve(border, ghosts.size());
        own.row_ptr.reserve(mine.row_ptr.size());
        std::ranges::sort(ghosts);
        ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());

        own.columns = sparse::checked_index<std::int32_t>(static_cast<std::size_t>(end - begin));
        border.columns = sparse::checked_index<std::int32_t>(ghosts.size());
        for (std::int64_t row = 0; row < mine.rows; ++row) {
            auto const border_before = border.col.size();
            for (auto p = mine.row_ptr[row]; p < mine.row_ptr[row + 1]; ++p) {
                auto const place = mine.col[static_cast<std::size_t>(p)];
                auto const column = is_own(place) ? place - begin : ghost(place);
                auto& part = is_own(place) ? own : border;
                part.col.push_back(static_cast<std::int32_t>(column));
                part.values.push_back(mine.values[static_cast<std::size_t>(p)]);
            }
            end_row(own);
            if (border.col.size() > border_before) {
                border_row.push_back(static_cast<std::int32_t>(row));
                end_row(border);
            }
        }
    }

    /// Arrays that grow step by step would end with room that nobody needs.
    static void reserve(sparse::Csr<T>& part, std::size_t nonzeros)
    {
        part.col.reserve(nonzeros);
        part.values.reserve(nonzeros);
    }

    /// Where a place stands among the ghosts.
    std::int64_t ghost(std::int64_t place) const
    {
        return std::ranges::lower_bound(ghosts, place) - ghosts.begin();
    }
};

template <class T>
HaloMatrix<T>::HaloMatrix(mpi::Communicator const& communicator, Rows<T> const& mine,
                          Partition const& columns, Choice const& choose, OnHost on_host)
    : HaloMatrix{communicator, Split{mine, columns, communicator.rank()}, columns, choose, on_host}
{
}

template <class T>
HaloMatrix<T>::HaloMatrix(mpi::Communicator const& communicator, Split split,
                          Partition const& columns, Choice const& choose, OnHost on_host)
    : own_{std::move(split.own)}, border_{std::move(split.border)}, border_row_{std::move(
                                                                        split.border_row)},
      border_sum_(border_row_.size()), inner_{plan(own_, choose)}, outer_{plan(border_, choose)},
      halo_{communicator, split.ghosts, columns, on_host}, bytes_{over_all(communicator,
                                                                           inner_.bytes() +
                                                                               outer_.bytes())}
{
    keep_what_is_read(own_, inner_);
    keep_what_is_read(border_, outer_);
}

//! [halo]
template <class T>
void HaloMatrix<T>::multiply(std::span<T const> x, std::span<T> y)
{
    halo_.start(x);
    inner_(x, y);
    add_border(halo_.finish(), y);
}
//! [halo]

//! [wait]
template <class T>
void HaloMatrix<T>::wait_and_multiply(std::span<T const> x, std::span<T> y)
{
    halo_.start(x);
    auto const ghosts = halo_.finish();
    inner_(x, y);
    add_border(ghosts, y);
}
//! [wait]

//! [halo_again]
template <class T>
void HaloMatrix<T>::multiply_again(std::span<T const> x, std::span<T> y)
{
    halo_.start_again();
    inner_(x, y);
    add_border(halo_.finish(), y);
}
//! [halo_again]

//! [halo_alone]
template <class T>
void HaloMatrix<T>::multiply_alone(std::span<T const> x, std::span<T> y)
{
    inner_(x, y);
    add_border(halo_.last(), y);
}
//! [halo_alone]

template <class T>
void HaloMatrix<T>::add_border(std::span<T const> ghosts, std::span<T> y)
{
    outer_(ghosts, border_sum_);
    for (std::size_t k = 0; k < border_row_.size(); ++k) {
        y[static_cast<std::size_t>(border_row_[k])] += border_sum_[k];
    }
}

template class EverywhereMatrix<float>;
template class EverywhereMatrix<double>;
template sparse::Csr<float> send_slices(mpi::Communicator const&, sparse::Csr<float> const&,
                                        Partition const&);
template sparse::Csr<double> send_slices(mpi::Communicator const&, sparse::Csr<double> const&,
                                         Partition const&);
template Rows<float> by_places(Rows<float>, Partition const&);
template Rows<double> by_places(Rows<double>, Partition const&);
template class SharedMatrix<float>;
template class SharedMatrix<double>;
template class HaloMatrix<float>;
template class HaloMatrix<double>;

} // namespace distributed
