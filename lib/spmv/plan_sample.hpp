#pragma once

#include "sparse/csr.hpp"

#include <cstdint>

namespace spmv {

/// Some rows of a matrix, evenly spread in blocks of consecutive rows, that stand for all of it.
template <class T>
struct Sample
{
    sparse::Csr<T> a;            ///< rows of the blocks, one block after the other
    double scale = 1;            ///< nonzeros of the matrix by nonzeros of the sample
    double x_lines = 0;          ///< cache lines of `x` that a block touches first, per nonzero
    std::int32_t block_rows = 0; ///< rows of a block
};

/// Takes the rows with at most `longest` nonzeros of about `rows` rows; longer ones are left empty.
template <class T>
Sample<T> take_sample(sparse::CsrView<T> const& a, std::int32_t rows, std::int32_t longest);

} // namespace spmv
