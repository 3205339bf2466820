#pragma once

#include "sparse/csr.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sparse {

/// What the speed of a sparse product depends on in a matrix' structure.
struct Features
{
    std::int64_t rows = 0;       ///< of the matrix
    std::int64_t columns = 0;    ///< of the matrix
    std::int64_t nonzeros = 0;   ///< stored entries, zeros among them
    double mean_row = 0.0;       ///< nonzeros per row; 0 without rows
    std::int64_t max_row = 0;    ///< nonzeros of the longest row
    double std_row = 0.0;        ///< population standard deviation of the nonzeros per row
    std::int64_t empty_rows = 0; ///< rows without a nonzero
    std::int64_t segments = 0;   ///< runs of consecutive columns within a row

    /// Segments per nonzero: 1 if no two nonzeros are neighbours; 0 without nonzeros.
    double segments_per_nonzero() const
    {
        return nonzeros == 0 ? 0.0 : static_cast<double>(segments) / static_cast<double>(nonzeros);
    }
};

/// Features of a structure; explicit zeros count as nonzeros. Takes a `Csr` or `Pattern` as well.
/// Throws `std::invalid_argument` if it is none, as `has_sorted_rows` does.
Features features(PatternView<std::int32_t> const& a);
/// The same for 64-bit indices.
Features features(PatternView<std::int64_t> const& a);

/// Names and numbers as tables and records show them: rows, cols, nnz, mean_row, max_row, std_row,
/// empty_rows, nzseg, nzseg_per_nnz.
std::vector<std::pair<std::string, double>> named(Features const& f);

} // namespace sparse
