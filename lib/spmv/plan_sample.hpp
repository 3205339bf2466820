#pragma once

#include "sparse/csr.hpp"

#include <cstdint>
#include <vector>

namespace spmv {

/// Some rows of a matrix in blocks of consecutive rows, between which lie equally many nonzeros,
/// that stand for all of it.
template <class T>
struct Sample
{
    sparse::Csr<T> a;               ///< rows of the blocks, one block after the other
    std::vector<std::int32_t> ends; ///< rows of `a` before the end of each block
};

/// Takes the rows with at most `longest` nonzeros of about `rows` rows; longer ones are left empty.
template <class T>
Sample<T> take_sample(sparse::CsrView<T> const& a, std::int32_t rows, std::int32_t longest);

} // namespace spmv
