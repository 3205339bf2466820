#include "multiply.hpp"

/// BEGIN SOLUTION
#include <algorithm>
#include <memory>
#include <omp.h>

namespace {

#ifdef __AVX512F__
constexpr std::int32_t lanes = 8;
constexpr std::int32_t tile_rows = 12;
#else
constexpr std::int32_t lanes = 4;
constexpr std::int32_t tile_rows = 6;
#endif
/// So many sums that they and what they need fill the registers of vectors: 12 of 16, 24 of 32.
constexpr std::int32_t tile_columns = 2 * lanes;
constexpr std::int32_t depth = 256;               ///< rows of B that are packed at once
constexpr std::int32_t width = 16 * tile_columns; ///< and columns: with `depth`, for the L2 cache

using Vector = double __attribute__((vector_size(8 * lanes), aligned(8), may_alias));

/// A matrix, or a part of one, whose rows lie `stride` elements apart.
template <class T>
struct Block
{
    T* begin;
    std::int32_t stride;

    T* at(std::int32_t row, std::int32_t column) const
    {
        return begin + static_cast<std::int64_t>(row) * stride + column;
    }
};

/// Columns of B in groups of a tile, row by row; zeros behind the last column.
void pack_columns(Block<double const> b, std::int32_t rows, std::int32_t columns, double* to)
{
    for (std::int32_t j = 0; j < columns; j += tile_columns) {
        auto const filled = std::min(tile_columns, columns - j);
        for (std::int32_t p = 0; p < rows; ++p, to += tile_columns) {
            std::copy_n(b.at(p, j), filled, to);
            std::fill(to + filled, to + tile_columns, 0.0);
        }
    }
}

/// One tile of C, of which `rows` and `columns` are there where it lies at an edge: of rows that
/// are not, the last one is computed again. The sums stay in registers; `add` adds them to C.
void multiply_tile(std::int32_t deep, Block<double const> a, double const* b, Block<double> c,
                   std::int32_t rows, std::int32_t columns, bool add)
{
    Vector sums[tile_rows][2] = {};
    double const* row[tile_rows];
    for (std::int32_t r = 0; r < tile_rows; ++r) {
        row[r] = a.at(std::min(r, rows - 1), 0);
    }
    for (std::int32_t p = 0; p < deep; ++p, b += tile_columns) {
        auto const* const two = reinterpret_cast<Vector const*>(b);
#pragma GCC unroll 12
        for (std::int32_t r = 0; r < tile_rows; ++r) {
            sums[r][0] += row[r][p] * two[0];
            sums[r][1] += row[r][p] * two[1];
        }
    }
    Vector tile[tile_rows][2]; // not `sums` itself, which would leave the registers
#pragma GCC unroll 12
    for (std::int32_t r = 0; r < tile_rows; ++r) {
        tile[r][0] = sums[r][0];
        tile[r][1] = sums[r][1];
    }
    for (std::int32_t r = 0; r < rows; ++r) {
        auto const* const from = reinterpret_cast<double const*>(tile[r]);
        auto* const to = c.at(r, 0);
        if (columns == tile_columns && !add) {
            std::copy_n(from, tile_columns, to);
            continue;
        }
        for (std::int32_t q = 0; q < columns; ++q) {
            to[q] = add ? to[q] + from[q] : from[q];
        }
    }
}

/// C = A B, where C has m rows and n columns: blocks of B are packed, so that the loop over tiles
/// reads them one element behind the other, and A is read row by row as it lies.
void multiply_block(std::int32_t m, std::int32_t n, std::int32_t k, Block<double const> a,
                    Block<double const> b, Block<double> c)
{
    auto const packed = std::make_unique_for_overwrite<double[]>(depth * width);
    for (std::int32_t p = 0; p < k; p += depth) {
        auto const deep = std::min(depth, k - p);
        for (std::int32_t j = 0; j < n; j += width) {
            auto const wide = std::min(width, n - j);
            pack_columns({b.at(p, j), b.stride}, deep, wide, packed.get());
            for (std::int32_t i = 0; i < m; i += tile_rows) {
                for (std::int32_t q = 0; q < wide; q += tile_columns) {
                    multiply_tile(deep, {a.at(i, p), a.stride}, packed.get() + q * deep,
                                  {c.at(i, j + q), c.stride}, std::min(tile_rows, m - i),
                                  std::min(tile_columns, wide - q), p > 0);
                }
            }
        }
    }
}

/// The part of so many rows or columns that is dealt to `index` of `parts`, in whole tiles.
struct Share
{
    std::int32_t begin;
    std::int32_t count;

    Share(std::int32_t all, std::int32_t tile, std::int32_t index, std::int32_t parts)
    {
        auto const tiles = (all + tile - 1) / tile;
        begin = std::min(all, tiles * index / parts * tile);
        count = std::min(all, tiles * (index + 1) / parts * tile) - begin;
    }
};

/// Into how many bands of rows C is cut for so many threads: parts are about as high as wide.
std::int32_t bands(std::int32_t m, std::int32_t n, std::int32_t threads)
{
    std::int32_t best = 1;
    for (std::int32_t rows = 1; rows <= threads; ++rows) {
        auto const border = [&](std::int32_t of) { return m / of + n / (threads / of); };
        if (threads % rows == 0 && border(rows) < border(best)) {
            best = rows;
        }
    }
    return best;
}

} // namespace
/// END SOLUTION

/// C = A B on all threads of OpenMP. naive.cpp shows the loops of the textbook.
void multiply(std::int32_t m, std::int32_t n, std::int32_t k, std::span<double const> a,
              std::span<double const> b, std::span<double> c)
{
    /// BEGIN SOLUTION
#pragma omp parallel
    {
        auto const threads = omp_get_num_threads();
        auto const high = bands(m, n, threads);
        auto const thread = omp_get_thread_num();
        Share const rows{m, tile_rows, thread % high, high};
        Share const columns{n, tile_columns, thread / high, threads / high};
        multiply_block(rows.count, columns.count, k, {a.data() + rows.begin * k, k},
                       {b.data() + columns.begin, n},
                       {c.data() + rows.begin * n + columns.begin, n});
    }
    /// END SOLUTION
}
