#pragma once

#include "dense/matrix.hpp"

#include <string>

namespace peers {

/// The dense products of Intel's Math Kernel Library, where it was found when this was built.
struct MklGemm
{
    std::string missing; ///< why it is not available; empty if it is
    std::string version; ///< and the processors that its code was chosen for

    /// It works on the threads of OpenMP, as ours do.
    static constexpr bool shares_threads = true;

    /// Starts the library, with threads if `threads` is not 1. The first such decides for the whole
    /// process; throws `std::logic_error` if a later one wants threads that the first did without.
    explicit MklGemm(int threads);

    /// `c = a b` on so many threads. `T` is float or double.
    template <class T>
    void gemm(dense::Matrix<T const> a, dense::Matrix<T const> b, dense::Matrix<T> c,
              int threads) const;
};

} // namespace peers
