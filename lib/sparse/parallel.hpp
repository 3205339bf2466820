#pragma once

#include <cstddef>
#include <exception>

namespace sparse {

/// Calls `body(k)` for all `0 <= k < count` on OpenMP's threads, one index at a time and in no
/// order.
///
/// Of the exceptions thrown, the one of the lowest index is rethrown when all calls have returned.
template <class Body>
void parallel_for(std::size_t count, Body const& body)
{
    std::exception_ptr failure;
    std::size_t failed = count;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) if (count > 1)
#endif
    for (std::size_t k = 0; k < count; ++k) {
        try {
            body(k);
        } catch (...) {
#ifdef _OPENMP
#pragma omp critical(sparse_parallel_for)
#endif
            if (k < failed) {
                failed = k;
                failure = std::current_exception();
            }
        }
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

} // namespace sparse
