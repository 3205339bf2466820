#pragma once

#include "sparse/csr.hpp"

#include <cstdint>
#include <limits>

namespace sparse {

/// Counts are given in 64 bits, so that a size that `I` cannot hold is an error and never wraps.
using Count = std::int64_t;

/// Rows `begin` to `end` of a matrix; ends beyond its last row stand for that.
struct RowRange
{
    Count begin = 0;                               ///< first row
    Count end = std::numeric_limits<Count>::max(); ///< one past the last
};

// Every generator is deterministic: the same arguments give the same structure on every machine and
// with any number of threads. Each throws std::invalid_argument with one line that names the
// generator, the value found and what was expected, also where rows, columns or nonzeros pass the
// largest `I`. `I` is std::int32_t or std::int64_t.
//
// Those that take a `RowRange` can make some rows of a matrix without the others: the result has
// these rows, and the columns of the whole.
/// The 5-point Laplacian on an `n` x `n` grid, numbered row by row: short rows, four short runs.
template <class I = std::int32_t>
Pattern<I> poisson2d(Count n, RowRange rows_made = {});

/// The 27-point stencil on an `n` x `n` x `n` grid: nine runs of three in each row.
template <class I = std::int32_t>
Pattern<I> stencil27(Count n, RowRange rows_made = {});

/// Finite elements with three unknowns a node: every entry of `stencil27(n)` becomes a dense 3x3
/// block, so runs are nine long.
template <class I = std::int32_t>
Pattern<I> fem3(Count n);

/// `fem3(n)` with the nodes renumbered at random within windows of `window` nodes: blocks stay,
/// their order does not, as in meshes numbered by a mesh generator.
template <class I = std::int32_t>
Pattern<I> fem3_shuffled(Count n, Count window, std::uint64_t seed);

/// `rows` x `rows`; each row is one run of `width` columns about the diagonal, moved inside the
/// matrix.
template <class I = std::int32_t>
Pattern<I> banded(Count rows, Count width, RowRange rows_made = {});

/// `per_row` distinct columns in each row, uniform over all columns.
template <class I = std::int32_t>
Pattern<I> random_rows(Count rows, Count columns, Count per_row, std::uint64_t seed,
                       RowRange rows_made = {});

/// A recursive power-law graph of 2^`scale` vertices (R-MAT, Chakrabarti et al. 2004) with the
/// probabilities .57, .19, .19, .05 of Graph500: `edges` drawn, duplicates dropped, not permuted.
template <class I = std::int32_t>
Pattern<I> rmat(Count scale, Count edges, std::uint64_t seed);

/// `rows` x `rows` with `full` full rows evenly spread; every other row has `per_row` distinct
/// columns within `window` of the diagonal.
template <class I = std::int32_t>
Pattern<I> dense_rows(Count rows, Count full, Count per_row, Count window, std::uint64_t seed,
                      RowRange rows_made = {});

/// `rows` x `rows`; one to three entries in each row: the diagonal, and others of which nine in ten
/// are within `window` of it and one in ten is anywhere.
template <class I = std::int32_t>
Pattern<I> short_rows(Count rows, Count window, std::uint64_t seed, RowRange rows_made = {});

/// `rows` x `rows` with `nonzeros` dealt evenly to the rows, each within `window` of the diagonal.
template <class I = std::int32_t>
Pattern<I> local_rows(Count rows, Count nonzeros, Count window, std::uint64_t seed,
                      RowRange rows_made = {});

/// `rows` x `rows` with `per_row` entries in each row, in `segments` runs that never touch and
/// differ in length by at most one, placed at random in a window of `window` columns about the
/// diagonal. Runs per nonzero are `segments` / `per_row` exactly, at an unchanged number of
/// nonzeros.
template <class I = std::int32_t>
Pattern<I> runs(Count rows, Count per_row, Count segments, Count window, std::uint64_t seed,
                RowRange rows_made = {});

/// All entries of a `rows` x `columns` matrix.
template <class I = std::int32_t>
Pattern<I> dense(Count rows, Count columns, RowRange rows_made = {});

/// A `rows` x `columns` matrix without entries.
template <class I = std::int32_t>
Pattern<I> empty(Count rows, Count columns);

/// Row lengths uniform in 0 .. `longest`, distinct columns uniform over all columns: empty rows and
/// odd lengths for tests.
template <class I = std::int32_t>
Pattern<I> ragged(Count rows, Count columns, Count longest, std::uint64_t seed,
                  RowRange rows_made = {});

} // namespace sparse
