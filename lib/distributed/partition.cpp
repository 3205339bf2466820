#include "distributed/partition.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace distributed {

namespace {

/// How far a rank goes.
enum class Rounding
{
    down,
    up
};

/// Nonzeros of all rows, dealt out from the front.
template <class I>
class Dealer
{
public:
    Dealer(std::span<I const> row_ptr, int ranks) : row_ptr_{row_ptr}, ranks_{ranks}, bounds_{0}
    {
        if (row_ptr.empty() || ranks < 1) {
            throw std::invalid_argument{"a partition needs row offsets and at least one rank"};
        }
    }

    std::int64_t total() const { return row_ptr_.back(); }
    std::int64_t rows() const { return static_cast<std::int64_t>(row_ptr_.size()) - 1; }

    /// Gives the next rank its share of the nonzeros.
    void give_share(Rounding rounding)
    {
        auto const total_share = [&](I offset) { return (offset - taken()) * ranks_; };
        auto const rest = row_ptr_.subspan(static_cast<std::size_t>(bounds_.back()));
        auto const end = rounding == Rounding::up
                             ? std::ranges::lower_bound(rest, total(), {}, total_share)
                             : std::ranges::upper_bound(rest, total(), {}, total_share) - 1;
        take_until(end == rest.end() ? rows() : bounds_.back() + (end - rest.begin()));
    }

    /// Gives the next rank as many rows as have at most `most` nonzeros.
    void give_at_most(std::int64_t most)
    {
        auto const rest = row_ptr_.subspan(static_cast<std::size_t>(bounds_.back()));
        auto const nonzeros = [&](I offset) { return offset - taken(); };
        auto const end = std::ranges::upper_bound(rest, most, {}, nonzeros) - 1;
        take_until(bounds_.back() + (end - rest.begin()));
    }

    /// Whether nothing is left.
    bool is_done() const { return bounds_.back() == rows(); }

    /// What was given, and all that is left to the last rank.
    Partition finish() &&
    {
        bounds_.resize(static_cast<std::size_t>(ranks_), bounds_.back());
        bounds_.push_back(rows());
        return Partition{std::move(bounds_)};
    }

private:
    std::int64_t taken() const { return row_ptr_[static_cast<std::size_t>(bounds_.back())]; }
    void take_until(std::int64_t row) { bounds_.push_back(row); }

    std::span<I const> row_ptr_;
    std::int64_t ranks_;
    std::vector<std::int64_t> bounds_;
};

template <class I, class RoundingOf>
Partition dealt(std::span<I const> row_ptr, int ranks, RoundingOf const& rounding_of)
{
    Dealer<I> dealer{row_ptr, ranks};
    for (int rank = 0; rank + 1 < ranks; ++rank) {
        dealer.give_share(rounding_of(rank));
    }
    return std::move(dealer).finish();
}

/// Ranks that take at most `most` nonzeros each, as long as there are some.
template <class I>
Dealer<I> dealt_at_most(std::span<I const> row_ptr, int ranks, std::int64_t most)
{
    Dealer<I> dealer{row_ptr, ranks};
    for (int rank = 0; rank < ranks && !dealer.is_done(); ++rank) {
        dealer.give_at_most(most);
    }
    return dealer;
}

template <class I>
std::int64_t longest_row(std::span<I const> row_ptr)
{
    std::int64_t longest = 0;
    for (std::size_t i = 1; i < row_ptr.size(); ++i) {
        longest = std::max<std::int64_t>(longest, row_ptr[i] - row_ptr[i - 1]);
    }
    return longest;
}

} // namespace

Partition::Partition(std::vector<std::int64_t> bounds) : bounds_{std::move(bounds)}
{
    if (bounds_.empty() || bounds_.front() != 0 || !std::ranges::is_sorted(bounds_)) {
        throw std::invalid_argument{"the bounds of a partition begin with 0 and never decrease"};
    }
}

Partition::Partition(std::span<std::int32_t const> rank_of_row, int ranks)
    : bounds_(static_cast<std::size_t>(ranks) + 1, 0), row_(rank_of_row.size()),
      place_(rank_of_row.size())
{
    for (auto const rank : rank_of_row) {
        if (rank < 0 || rank >= ranks) {
            throw std::invalid_argument{"a row was given to a rank that does not exist"};
        }
        ++bounds_[static_cast<std::size_t>(rank) + 1];
    }
    std::inclusive_scan(bounds_.begin(), bounds_.end(), bounds_.begin());
    auto next = bounds_;
    for (std::size_t row = 0; row < rank_of_row.size(); ++row) {
        auto const place = next[static_cast<std::size_t>(rank_of_row[row])]++;
        row_[static_cast<std::size_t>(place)] = static_cast<std::int64_t>(row);
        place_[row] = place;
    }
}

int Partition::owner_of(std::int64_t place) const
{
    auto const after = std::ranges::upper_bound(bounds_, place);
    return static_cast<int>(after - bounds_.begin()) - 1;
}

Partition equal_rows(std::int64_t rows, int ranks)
{
    std::vector<std::int64_t> bounds;
    for (std::int64_t rank = 0; rank <= ranks; ++rank) {
        bounds.push_back(rows / ranks * rank + std::min(rank, rows % ranks));
    }
    return Partition{std::move(bounds)};
}

template <class I>
Partition rounded_down(std::span<I const> row_ptr, int ranks)
{
    return dealt(row_ptr, ranks, [](int) { return Rounding::down; });
}

template <class I>
Partition rounded_up(std::span<I const> row_ptr, int ranks)
{
    return dealt(row_ptr, ranks, [](int) { return Rounding::up; });
}

template <class I>
Partition alternating(std::span<I const> row_ptr, int ranks)
{
    return dealt(row_ptr, ranks,
                 [](int rank) { return rank % 2 == 0 ? Rounding::up : Rounding::down; });
}

template <class I>
Partition least_bottleneck(std::span<I const> row_ptr, int ranks)
{
    std::int64_t enough = Dealer<I>{row_ptr, ranks}.total();
    std::int64_t too_few = std::max((enough + ranks - 1) / ranks, longest_row(row_ptr)) - 1;
    while (enough - too_few > 1) {
        auto const guess = too_few + (enough - too_few) / 2;
        (dealt_at_most(row_ptr, ranks, guess).is_done() ? enough : too_few) = guess;
    }
    auto dealer = dealt_at_most(row_ptr, ranks, enough);
    return std::move(dealer).finish();
}

template <class I>
std::vector<Partitioner<I>> contiguous_partitioners()
{
    using View = sparse::PatternView<I>;
    return {
        {"equal", [](View const& a, int ranks) { return equal_rows(a.rows, ranks); }},
        {"floor", [](View const& a, int ranks) { return rounded_down(a.row_ptr, ranks); }},
        {"ceil", [](View const& a, int ranks) { return rounded_up(a.row_ptr, ranks); }},
        {"alternate", [](View const& a, int ranks) { return alternating(a.row_ptr, ranks); }},
        {"bottleneck", [](View const& a, int ranks) { return least_bottleneck(a.row_ptr, ranks); }},
    };
}

template std::vector<Partitioner<std::int32_t>> contiguous_partitioners();
template std::vector<Partitioner<std::int64_t>> contiguous_partitioners();
template Partition rounded_down(std::span<std::int32_t const>, int);
template Partition rounded_down(std::span<std::int64_t const>, int);
template Partition rounded_up(std::span<std::int32_t const>, int);
template Partition rounded_up(std::span<std::int64_t const>, int);
template Partition alternating(std::span<std::int32_t const>, int);
template Partition alternating(std::span<std::int64_t const>, int);
template Partition least_bottleneck(std::span<std::int32_t const>, int);
template Partition least_bottleneck(std::span<std::int64_t const>, int);

} // namespace distributed
