#pragma once

#include "distributed/traffic.hpp"

#include "sparse/csr.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace distributed {

/// How often something has a size: entry k counts sizes from 2^(k-1) to 2^k - 1, entry 0 size 0.
using PowerCounts = std::vector<std::int64_t>;

/// Where the nonzeros of a matrix lie, at a resolution that a picture can show.
struct Anatomy
{
    std::size_t spy_rows = 0;         ///< of the picture, at most the matrix' rows
    std::size_t spy_columns = 0;      ///< of the picture, at most the matrix' columns
    std::vector<std::int64_t> spy;    ///< nonzeros in each cell, row by row
    PowerCounts row_lengths;          ///< rows by their nonzeros
    PowerCounts run_lengths;          ///< runs of consecutive columns by their nonzeros
    PowerCounts distances;            ///< nonzeros by |i - j|
    std::int64_t lower_bandwidth = 0; ///< the largest i - j of a nonzero; 0 if there is none below
    std::int64_t upper_bandwidth = 0; ///< the largest j - i of a nonzero; 0 if there is none above
};

/// Looks at every nonzero once. The picture has at most `most_cells` cells each way, and keeps the
/// shape of the matrix.
Anatomy anatomy(sparse::PatternView<std::int32_t> const& a, std::size_t most_cells);

/// The traffic of one way to deal the rows to ranks.
struct Dealt
{
    std::string way; ///< equal_rows, least_bottleneck or graph
    Traffic traffic;
};

/// Contiguous ways for `ranks`: equal rows, and the least bottleneck.
std::vector<Dealt> contiguous(sparse::PatternView<std::int32_t> const& a, int ranks);

} // namespace distributed
