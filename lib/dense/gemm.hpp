#pragma once

#include "dense/matrix.hpp"

#include <string_view>
#include <vector>

namespace dense {

/// `c = a b` on `threads` threads, 0: as many as OpenMP would take. `a` has m x k elements, `b` k x
/// n, `c` m x n; they may have no elements. `T` is float or double, sums are of that type. No
/// element of `c` may lie in memory of `a` or `b`; these may be the same, and each may lie in gaps
/// between rows of another. Throws std::invalid_argument where they do, where sizes do not agree or
/// no memory has such a matrix, for a null pointer to elements and fewer than 0 threads;
/// std::bad_alloc, before anything is written, where memory is short.
///
/// The calling thread keeps memory for its next product: at most 13 MB, and 0.5 MB for each thread.
///
/// Blocks of `a` and `b` are copied into the order in which a kernel of registers reads them, as in
/// Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, ACM TOMS 34
/// (2008), 12.
template <class T>
void gemm(Operand<T> a, Operand<T> b, Matrix<T> c, int threads = 0);

/// The product of a strip of `a` and a strip of `b`, kept in registers.
template <class T>
struct MicroKernel
{
    std::string_view name; ///< "avx512", "avx2" or "baseline"
    int rows;              ///< of the strip of `a`
    int columns;           ///< of the strip of `b`

    /// `c += a b`, or `c = a b` if not `add`. `a` holds `depth` columns of `rows` elements, `b`
    /// `depth` rows of `columns` elements, both without gaps; `c` has `stride` elements from row to
    /// row.
    void (*multiply)(std::int64_t depth, T const* a, T const* b, T* c, std::int64_t stride,
                     bool add);
};

/// The kernels that this processor can run, the widest first.
template <class T>
std::vector<MicroKernel<T>> micro_kernels();

/// As `gemm`, with a kernel of one's choice.
template <class T>
void packed_gemm(Operand<T> a, Operand<T> b, Matrix<T> c, MicroKernel<T> const& kernel,
                 int threads);

} // namespace dense
