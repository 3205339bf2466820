#pragma once

#include "dense/matrix.hpp"

#include <string>

namespace peers {

/// OpenBLAS, where it is found.
struct OpenBlas
{
    std::string missing; ///< why it is not available; empty if it is
    std::string version; ///< in its own words: version, options, processor

    /// Whether it works on the threads of OpenMP. Threads of its own would wait for processors that
    /// OpenMP's keep busy between two regions, which is not how anybody uses it.
    bool shares_threads = false;

    OpenBlas();

    /// `c = a b` on so many threads. `T` is float or double.
    template <class T>
    void gemm(dense::Matrix<T const> a, dense::Matrix<T const> b, dense::Matrix<T> c,
              int threads) const;
};

} // namespace peers
