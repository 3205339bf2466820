#pragma once

#include "sparse/csr.hpp"

#include <cstdint>

namespace spmv {

/// Some rows of a matrix in blocks of consecutive rows, between which lie equally many nonzeros,
/// that stand for all of it.
template <class T>
struct Sample
{
    sparse::Csr<T> a;        ///< rows of the blocks, one block after the other
    double far_elements = 0; ///< nonzeros that miss `x` in a core's cache and come as a surprise
};

/// Takes the rows with at most `longest` nonzeros of about `rows` rows; longer ones are left empty.
/// A core's cache holds `cache_bytes`.
template <class T>
Sample<T> take_sample(sparse::CsrView<T> const& a, std::int32_t rows, std::int32_t longest,
                      double cache_bytes);

} // namespace spmv
