#include "distributed/traffic.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

namespace distributed {

namespace {

/// Owner of each column, looked up once.
std::vector<std::int32_t> owners(Partition const& columns)
{
    std::vector<std::int32_t> owner(static_cast<std::size_t>(columns.rows()));
    for (int rank = 0; rank < columns.ranks(); ++rank) {
        for (auto place = columns.begin(rank); place < columns.end(rank); ++place) {
            owner[static_cast<std::size_t>(columns.row_at(place))] = rank;
        }
    }
    return owner;
}

/// Remembers which of many things the present rank has seen, without clearing between ranks.
class Seen
{
public:
    explicit Seen(std::size_t things) : last_(things, -1) {}

    /// True the first time that `rank` asks for `thing`.
    bool is_first(std::size_t thing, int rank) { return std::exchange(last_[thing], rank) != rank; }

private:
    std::vector<std::int32_t> last_;
};

} // namespace

double Traffic::over_mean(std::int64_t of_rank) const
{
    return nonzeros == 0 ? 1.0
                         : static_cast<double>(of_rank) * ranks / static_cast<double>(nonzeros);
}

Partition columns_with(Partition const& rows, std::int64_t columns)
{
    return columns == rows.rows() ? rows : equal_rows(columns, rows.ranks());
}

template <class I>
Traffic traffic(sparse::PatternView<I> const& a, Partition const& rows, Partition const& columns)
{
    if (rows.rows() != a.rows || columns.rows() != a.columns || rows.ranks() != columns.ranks()) {
        throw std::invalid_argument{"a partition of other rows, columns or ranks"};
    }
    auto const owner = owners(columns);
    Seen seen_columns{owner.size()};
    Seen seen_ranks{static_cast<std::size_t>(rows.ranks())};
    Traffic result;
    result.ranks = rows.ranks();
    for (int rank = 0; rank < rows.ranks(); ++rank) {
        std::int64_t nonzeros = 0;
        std::int64_t ghosts = 0;
        std::int64_t messages = 0;
        for (auto place = rows.begin(rank); place < rows.end(rank); ++place) {
            auto const row = static_cast<std::size_t>(rows.row_at(place));
            nonzeros += a.row_ptr[row + 1] - a.row_ptr[row];
            for (auto p = a.row_ptr[row]; p < a.row_ptr[row + 1]; ++p) {
                auto const column = static_cast<std::size_t>(a.col[static_cast<std::size_t>(p)]);
                if (owner[column] != rank && seen_columns.is_first(column, rank)) {
                    ++ghosts;
                    auto const sender = static_cast<std::size_t>(owner[column]);
                    messages += seen_ranks.is_first(sender, rank) ? 1 : 0;
                }
            }
        }
        result.nonzeros += nonzeros;
        result.last_nonzeros = nonzeros;
        result.ghosts += ghosts;
        result.messages += messages;
        result.idle_ranks += nonzeros == 0 ? 1 : 0;
        result.most_nonzeros = std::max(result.most_nonzeros, nonzeros);
        result.most_rows = std::max(result.most_rows, rows.size(rank));
        result.most_ghosts = std::max(result.most_ghosts, ghosts);
        result.most_messages = std::max(result.most_messages, messages);
    }
    return result;
}

template Traffic traffic(sparse::PatternView<std::int32_t> const&, Partition const&,
                         Partition const&);
template Traffic traffic(sparse::PatternView<std::int64_t> const&, Partition const&,
                         Partition const&);

} // namespace distributed
