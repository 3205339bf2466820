#include "spmv/formats/blocked_coo/blocked_coo.hpp"

#include "sparse/check.hpp"
#include "sparse/parallel.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sparse {

namespace {

template <class T>
struct Entry
{
    std::uint32_t column; ///< of the matrix
    std::uint32_t row;    ///< of the strip
    T value;
};

void require(char const* what, std::int64_t value, std::int64_t limit)
{
    auto const found = std::string{"blocked COO: "} + what + ": found " + std::to_string(value);
    if (value < 1) {
        throw std::invalid_argument{found + ", expected at least 1"};
    }
    if (value > limit) {
        throw std::length_error{found + ", expected at most " + std::to_string(limit)};
    }
}

/// First rows of the strips and the number of rows: a cut where each part's share of the nonzeros
/// ends, and further cuts of a part that is too tall, into strips of equally many rows.
template <class T>
Array<std::int32_t> cut_rows(CsrView<T> const& a, TileShape const& shape)
{
    Array<std::int32_t> cuts(1, 0);
    auto const nonzeros = static_cast<std::int64_t>(a.nonzeros());
    for (std::int64_t part = 1; part <= shape.parts; ++part) {
        auto const share = static_cast<std::int32_t>(nonzeros * part / shape.parts);
        auto const first = a.row_ptr.begin() + cuts.back();
        auto const end =
            part == shape.parts
                ? a.rows
                : static_cast<std::int32_t>(std::lower_bound(first, a.row_ptr.end() - 1, share) -
                                            a.row_ptr.begin());
        std::int64_t const begin = cuts.back();
        std::int64_t const strips = (end - begin + shape.rows - 1) / shape.rows;
        for (std::int64_t strip = 1; strip <= strips; ++strip) {
            cuts.push_back(static_cast<std::int32_t>(begin + (end - begin) * strip / strips));
        }
    }
    return cuts;
}

/// The entries of rows `first` to `last`, row by row.
template <class T>
Array<Entry<T>> entries_by_row(CsrView<T> const& a, std::int32_t first, std::int32_t last)
{
    Array<Entry<T>> entries(static_cast<std::size_t>(a.row_ptr[last] - a.row_ptr[first]));
    auto entry = entries.begin();
    for (std::int32_t i = first; i < last; ++i) {
        for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            *entry++ = {static_cast<std::uint32_t>(a.col[p]), static_cast<std::uint32_t>(i - first),
                        a.values[p]};
        }
    }
    return entries;
}

/// Sorts the entries of a strip, which are in the order of rows, by column: a stable radix sort.
template <class T>
void sort_by_column(Array<Entry<T>>& entries, std::int32_t columns)
{
    constexpr int digit_bits = 11;
    constexpr std::uint32_t mask = (1u << digit_bits) - 1;
    Array<Entry<T>> sorted(entries.size());
    auto const bits = static_cast<int>(std::bit_width(static_cast<std::uint32_t>(columns)));
    for (int shift = 0; shift < bits; shift += digit_bits) {
        std::array<std::size_t, mask + 2> begin = {};
        for (auto const& entry : entries) {
            ++begin[(entry.column >> shift & mask) + 1];
        }
        for (std::size_t digit = 0; digit < mask; ++digit) {
            begin[digit + 1] += begin[digit];
        }
        for (auto const& entry : entries) {
            sorted[begin[entry.column >> shift & mask]++] = entry;
        }
        std::swap(entries, sorted);
    }
}

/// Writes the entries of a strip from `begin` on and returns its tiles.
template <class T, class Index>
std::vector<Tile> store(Array<Entry<T>> const& entries, std::int32_t begin,
                        std::int32_t tile_columns, BlockedCoo<T, Index>& blocked)
{
    std::vector<Tile> tiles;
    std::int64_t tile_end = 0;
    for (std::size_t k = 0; k < entries.size(); ++k) {
        auto const& [column, row, value] = entries[k];
        auto const p = begin + static_cast<std::int32_t>(k);
        if (column >= tile_end) {
            auto const first = static_cast<std::int32_t>(column) / tile_columns * tile_columns;
            tiles.push_back({first, p});
            tile_end = std::int64_t{first} + tile_columns;
        }
        auto const within = column - static_cast<std::uint32_t>(tiles.back().column);
        blocked.places[p] =
            static_cast<Place<Index>>(Place<Index>{static_cast<Index>(row)} << 8 * sizeof(Index) |
                                      static_cast<Index>(within));
        blocked.values[p] = value;
    }
    return tiles;
}

} // namespace

template <class T, class Index>
TileShape tile_shape(std::size_t cache_bytes, int parts)
{
    auto const limit = std::int64_t{tile_limit<Index>};
    auto const rows = static_cast<std::int64_t>(cache_bytes / 8 * 3 / sizeof(T));
    return {static_cast<std::int32_t>(std::clamp<std::int64_t>(rows, 1, limit)), tile_limit<Index>,
            parts};
}

template <class T, class Index>
BlockedCoo<T, Index> to_blocked_coo(CsrView<T> const& a, TileShape const& shape)
{
    require_sorted_rows(a);
    require("rows of a strip", shape.rows, tile_limit<Index>);
    require("columns of a tile", shape.columns, tile_limit<Index>);
    require("parts", shape.parts, std::numeric_limits<int>::max());

    BlockedCoo<T, Index> blocked{a.rows, a.columns, cut_rows(a, shape), {}, {}, {}, {}};
    blocked.places.resize(a.nonzeros());
    blocked.values.resize(a.nonzeros());
    auto const strips = static_cast<std::size_t>(blocked.units());
    std::vector<std::vector<Tile>> tiles(strips);
    parallel_for(strips, [&](std::size_t strip) {
        auto const first = blocked.strip_row[strip];
        auto entries = entries_by_row(a, first, blocked.strip_row[strip + 1]);
        sort_by_column(entries, a.columns);
        tiles[strip] = store(entries, a.row_ptr[first], shape.columns, blocked);
    });

    blocked.strip_tile.push_back(0);
    for (auto const& of_strip : tiles) {
        blocked.tiles.insert(blocked.tiles.end(), of_strip.begin(), of_strip.end());
        blocked.strip_tile.push_back(static_cast<std::int32_t>(blocked.tiles.size()));
    }
    blocked.tiles.push_back({a.columns, static_cast<std::int32_t>(a.nonzeros())});
    return blocked;
}

std::size_t bytes_of_tiles_in_csr(PatternView<> const& a, std::int32_t side,
                                  std::size_t value_bytes)
{
    std::size_t const index_bytes = side <= tile_limit<std::uint8_t>    ? 1
                                    : side <= tile_limit<std::uint16_t> ? 2
                                                                        : 4;
    std::size_t tiles = 0;
    std::vector<std::int32_t> columns;
    for (std::int64_t first = 0; first < a.rows; first += side) {
        auto const last = std::min<std::int64_t>(first + side, a.rows);
        auto const begin = a.col.begin() + a.row_ptr[static_cast<std::size_t>(first)];
        auto const end = a.col.begin() + a.row_ptr[static_cast<std::size_t>(last)];
        columns.resize(static_cast<std::size_t>(end - begin));
        std::transform(begin, end, columns.begin(), [&](std::int32_t j) { return j / side; });
        std::ranges::sort(columns);
        tiles +=
            static_cast<std::size_t>(std::unique(columns.begin(), columns.end()) - columns.begin());
    }
    auto const offsets = tiles * (static_cast<std::size_t>(side) + 1) * index_bytes;
    return offsets + a.nonzeros() * (index_bytes + value_bytes);
}

template TileShape tile_shape<float, std::uint8_t>(std::size_t, int);
template TileShape tile_shape<float, std::uint16_t>(std::size_t, int);
template TileShape tile_shape<float, std::uint32_t>(std::size_t, int);
template TileShape tile_shape<double, std::uint8_t>(std::size_t, int);
template TileShape tile_shape<double, std::uint16_t>(std::size_t, int);
template TileShape tile_shape<double, std::uint32_t>(std::size_t, int);
template BlockedCoo<float, std::uint8_t> to_blocked_coo(CsrView<float> const&, TileShape const&);
template BlockedCoo<float, std::uint16_t> to_blocked_coo(CsrView<float> const&, TileShape const&);
template BlockedCoo<float, std::uint32_t> to_blocked_coo(CsrView<float> const&, TileShape const&);
template BlockedCoo<double, std::uint8_t> to_blocked_coo(CsrView<double> const&, TileShape const&);
template BlockedCoo<double, std::uint16_t> to_blocked_coo(CsrView<double> const&, TileShape const&);
template BlockedCoo<double, std::uint32_t> to_blocked_coo(CsrView<double> const&, TileShape const&);

} // namespace sparse
