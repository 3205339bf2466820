#include "distributed/anatomy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace distributed {

namespace {

void add(PowerCounts& counts, std::int64_t size)
{
    auto const power = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(size)));
    if (power >= counts.size()) {
        counts.resize(power + 1);
    }
    ++counts[power];
}

/// Cells for `count` rows or columns where `longest` get `most`.
std::size_t cells(std::int64_t count, std::int64_t longest, std::size_t most)
{
    if (count == 0) {
        return 0;
    }
    auto const share = static_cast<double>(count) / static_cast<double>(longest);
    auto const wanted = static_cast<std::size_t>(std::lround(share * static_cast<double>(most)));
    // A side so short that it would vanish keeps a strip.
    auto const least = std::max<std::size_t>(wanted, most / 8);
    return std::min(least, static_cast<std::size_t>(count));
}

std::size_t cell_of(std::int64_t place, std::int64_t count, std::size_t cells)
{
    return static_cast<std::size_t>(place * static_cast<std::int64_t>(cells) / count);
}

} // namespace

Anatomy anatomy(sparse::PatternView<std::int32_t> const& a, std::size_t most_cells)
{
    auto const longest = std::max(a.rows, a.columns);
    Anatomy found;
    found.spy_rows = cells(a.rows, longest, most_cells);
    found.spy_columns = cells(a.columns, longest, most_cells);
    found.spy.resize(found.spy_rows * found.spy_columns);
    for (std::int32_t i = 0; i < a.rows; ++i) {
        auto const begin = a.row_ptr[static_cast<std::size_t>(i)];
        auto const end = a.row_ptr[static_cast<std::size_t>(i) + 1];
        add(found.row_lengths, end - begin);
        auto* const line = &found.spy[cell_of(i, a.rows, found.spy_rows) * found.spy_columns];
        std::int64_t run = 0;
        for (auto p = begin; p < end; ++p) {
            auto const column = std::int64_t{a.col[static_cast<std::size_t>(p)]};
            auto const distance = column - i;
            found.upper_bandwidth = std::max(found.upper_bandwidth, distance);
            found.lower_bandwidth = std::max(found.lower_bandwidth, -distance);
            add(found.distances, std::abs(distance));
            ++line[cell_of(column, a.columns, found.spy_columns)];
            ++run;
            if (p + 1 == end || a.col[static_cast<std::size_t>(p) + 1] != column + 1) {
                add(found.run_lengths, run);
                run = 0;
            }
        }
    }
    return found;
}

std::vector<Dealt> contiguous(sparse::PatternView<std::int32_t> const& a, int ranks)
{
    auto const measured = [&](std::string way, Partition const& rows) {
        return Dealt{std::move(way), traffic(a, rows, columns_with(rows, a.columns))};
    };
    return {measured("equal_rows", equal_rows(a.rows, ranks)),
            measured("least_bottleneck", least_bottleneck(a.row_ptr, ranks))};
}

} // namespace distributed
