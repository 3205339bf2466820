#pragma once

#include "distributed/redistribution.hpp"

#include "mpi/communicator.hpp"
#include "sparse/catalogue/generators.hpp"

#include <cstdint>
#include <filesystem>

/// \file
/// Matrices that come into being in pieces: each rank gets an equal share of the rows, and none
/// ever holds more than that. All functions are collective; `T` is float or double.

namespace distributed {

/// Reads a Matrix Market file. Every rank scans the lines that begin in its share of the bytes and
/// sends the entries to the ranks that own their rows.
///
/// Where that is not possible rank 0 reads the file alone and deals out the rows: gzip data has no
/// places to begin at, the meaning of a line of an array file depends on all lines before, an entry
/// may go over several lines, and an error should name its line. Throws `sparse::MatrixMarketError`
/// on rank 0 and `std::runtime_error` with the same text on all others.
template <class T>
Rows<T> read_matrix_market(mpi::Communicator const& communicator,
                           std::filesystem::path const& file);

/// As above, but rank 0 reads the file alone and deals out the rows, as in the article.
template <class T>
Rows<T> read_on_root(mpi::Communicator const& communicator, std::filesystem::path const& file);

/// Turns structures into rows with the values that `fill(std::span<T>)` writes.
template <class T, class Fill>
Rows<T> filled(sparse::Pattern<std::int64_t> pattern, Fill const& fill)
{
    Rows<T> rows{
        pattern.rows, pattern.columns, std::move(pattern.row_ptr), std::move(pattern.col), {}};
    rows.values.resize(rows.nonzeros());
    fill(std::span<T>{rows.values});
    return rows;
}

/// The equal share of this rank in a matrix of `rows` rows.
sparse::RowRange equal_share(mpi::Communicator const& communicator, std::int64_t rows);

} // namespace distributed
