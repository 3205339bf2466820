#pragma once

#include "spmv/cpu.hpp"

#include "sparse/csr.hpp"

#include <cstdint>

namespace spmv {

/// Some rows of a matrix in blocks of consecutive rows, between which lie equally many nonzeros,
/// that stand for all of it.
template <class T>
struct Sample
{
    sparse::Csr<T> a; ///< rows of the blocks, one block after the other
    /// Shares of the nonzeros that find their element of `x` neither in a cache nor where it would
    /// have been fetched ahead.
    double miss_first = 0; ///< in the first level
    double miss_core = 0;  ///< in a core's second level
};

/// Takes the rows with at most `longest` nonzeros of about `rows` rows; longer ones are left empty.
template <class T>
Sample<T> take_sample(sparse::CsrView<T> const& a, std::int32_t rows, std::int32_t longest,
                      Caches const& caches);

} // namespace spmv
