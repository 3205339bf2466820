#include "distributed/redistribution.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace distributed {

namespace {

using Places = std::vector<std::int64_t>;

/// `values[order[k]]` for all k.
template <class T>
std::vector<T> picked(std::span<T const> values, Places const& order)
{
    std::vector<T> result;
    result.reserve(order.size());
    for (auto const k : order) {
        result.push_back(values[static_cast<std::size_t>(k)]);
    }
    return result;
}

std::span<std::int64_t const> row_of(Places const& offsets, std::int64_t row)
{
    return std::span{offsets}.subspan(static_cast<std::size_t>(row), 2);
}

/// Sums of the `counts[r]` lengths that go to or come from rank r.
std::vector<int> totals(std::span<std::int64_t const> lengths, std::span<int const> counts)
{
    std::vector<int> sums;
    for (auto const count : counts) {
        auto const part = lengths.first(static_cast<std::size_t>(count));
        auto const sum = std::accumulate(part.begin(), part.end(), std::int64_t{0});
        sums.push_back(mpi::checked_count(static_cast<std::size_t>(sum)));
        lengths = lengths.subspan(static_cast<std::size_t>(count));
    }
    return sums;
}

/// The entries of rows one after another, in another order of rows.
template <class T>
std::vector<T> packed(std::span<T const> entries, Places const& offsets, Places const& order)
{
    std::vector<T> result;
    result.reserve(entries.size());
    for (auto const row : order) {
        auto const ends = row_of(offsets, row);
        result.insert(result.end(), entries.begin() + ends[0], entries.begin() + ends[1]);
    }
    return result;
}

/// The reverse of `packed`.
template <class T>
void unpack(std::vector<T> const& entries, Places const& offsets, Places const& order,
            sparse::Array<T>& into)
{
    into.resize(entries.size());
    auto next = entries.begin();
    for (auto const row : order) {
        auto const ends = row_of(offsets, row);
        auto const end = next + (ends[1] - ends[0]);
        std::copy(next, end, into.begin() + ends[0]);
        next = end;
    }
}

} // namespace

Redistribution::Redistribution(mpi::Communicator const& communicator, Partition const& from,
                               Partition const& to)
    : communicator_{communicator}, sent_(static_cast<std::size_t>(communicator.size()), 0),
      received_(sent_)
{
    int const ranks = communicator.size();
    if (from.rows() != to.rows() || from.ranks() != ranks || to.ranks() != ranks) {
        throw std::invalid_argument{"partitions of other rows or ranks cannot be exchanged"};
    }
    int const rank = communicator.rank();
    // Both sides order rows by their old place, so that nobody has to say which row is which.
    std::vector<int> destination;
    for (auto place = from.begin(rank); place < from.end(rank); ++place) {
        destination.push_back(to.owner_of(to.place_of(from.row_at(place))));
        ++sent_[static_cast<std::size_t>(destination.back())];
    }
    outgoing_.resize(destination.size());
    std::iota(outgoing_.begin(), outgoing_.end(), std::int64_t{0});
    std::ranges::stable_sort(
        outgoing_, {}, [&](std::int64_t k) { return destination[static_cast<std::size_t>(k)]; });

    Places origin;
    for (auto place = to.begin(rank); place < to.end(rank); ++place) {
        origin.push_back(from.place_of(to.row_at(place)));
        ++received_[static_cast<std::size_t>(from.owner_of(origin.back()))];
    }
    incoming_.resize(origin.size());
    std::iota(incoming_.begin(), incoming_.end(), std::int64_t{0});
    std::ranges::sort(incoming_, {},
                      [&](std::int64_t k) { return origin[static_cast<std::size_t>(k)]; });
}

template <class T>
std::vector<T> Redistribution::values(std::span<T const> mine) const
{
    auto const sent = picked(mine, outgoing_);
    auto const received = communicator_.exchange<T>(sent, sent_, received_);
    std::vector<T> result(received.size());
    for (std::size_t k = 0; k < received.size(); ++k) {
        result[static_cast<std::size_t>(incoming_[k])] = received[k];
    }
    return result;
}

template <class T>
Rows<T> Redistribution::rows(Rows<T> const& mine) const
{
    Places lengths(static_cast<std::size_t>(mine.rows));
    Places const offsets(mine.row_ptr.begin(), mine.row_ptr.end());
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        lengths[i] = offsets[i + 1] - offsets[i];
    }
    auto const new_lengths = values<std::int64_t>(lengths);

    Rows<T> result;
    result.rows = static_cast<std::int64_t>(new_lengths.size());
    result.columns = mine.columns;
    Places new_offsets(new_lengths.size() + 1, 0);
    std::inclusive_scan(new_lengths.begin(), new_lengths.end(), new_offsets.begin() + 1);
    result.row_ptr.assign(new_offsets.begin(), new_offsets.end());

    auto const sent = totals(picked<std::int64_t>(lengths, outgoing_), sent_);
    auto const received = totals(picked<std::int64_t>(new_lengths, incoming_), received_);
    auto const move = [&]<class Entry>(sparse::Array<Entry> const& from, sparse::Array<Entry>& to) {
        auto const out = packed<Entry>(from, offsets, outgoing_);
        unpack(communicator_.exchange<Entry>(out, sent, received), new_offsets, incoming_, to);
    };
    move(mine.col, result.col);
    move(mine.values, result.values);
    return result;
}

Partition all_on_root(std::int64_t rows, int ranks)
{
    std::vector<std::int64_t> bounds(static_cast<std::size_t>(ranks) + 1, rows);
    bounds.front() = 0;
    return Partition{std::move(bounds)};
}

Partition broadcast(mpi::Communicator const& communicator, Partition const& partition)
{
    std::vector<std::int64_t> head{partition.is_contiguous() ? 1 : 0, partition.rows()};
    communicator.broadcast<std::int64_t>(head);
    if (head[0] == 1) {
        std::vector<std::int64_t> bounds(static_cast<std::size_t>(communicator.size()) + 1);
        if (communicator.is_root()) {
            for (int rank = 0; rank < partition.ranks(); ++rank) {
                bounds[static_cast<std::size_t>(rank) + 1] = partition.end(rank);
            }
        }
        communicator.broadcast<std::int64_t>(bounds);
        return Partition{std::move(bounds)};
    }
    std::vector<std::int32_t> owner(static_cast<std::size_t>(head[1]));
    if (communicator.is_root()) {
        for (std::int64_t row = 0; row < partition.rows(); ++row) {
            owner[static_cast<std::size_t>(row)] = partition.owner_of(partition.place_of(row));
        }
    }
    communicator.broadcast<std::int32_t>(owner);
    return Partition{owner, communicator.size()};
}

template <class T>
Rows<T> deal_from_root(mpi::Communicator const& communicator, Rows<T> const& whole,
                       Partition const& to)
{
    std::vector<std::int64_t> columns{whole.columns};
    communicator.broadcast<std::int64_t>(columns);
    Redistribution const move{communicator, all_on_root(to.rows(), to.ranks()), to};
    if (communicator.is_root()) {
        return move.rows(whole);
    }
    Rows<T> nothing;
    nothing.columns = columns[0];
    return move.rows(nothing);
}

template std::vector<float> Redistribution::values(std::span<float const>) const;
template std::vector<double> Redistribution::values(std::span<double const>) const;
template std::vector<std::int64_t> Redistribution::values(std::span<std::int64_t const>) const;
template Rows<float> Redistribution::rows(Rows<float> const&) const;
template Rows<double> Redistribution::rows(Rows<double> const&) const;
template Rows<float> deal_from_root(mpi::Communicator const&, Rows<float> const&, Partition const&);
template Rows<double> deal_from_root(mpi::Communicator const&, Rows<double> const&,
                                     Partition const&);

} // namespace distributed
