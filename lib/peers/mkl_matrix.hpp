#pragma once

#include "peers/mkl_service.hpp"
#include "peers/spmv.hpp"

#include <mkl_spblas.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

/// \file
/// What the two formats of the Math Kernel Library share.

namespace peers {

/// Throws `std::runtime_error` unless a call of the library succeeded.
inline void check(sparse_status_t status, char const* call)
{
    if (status != SPARSE_STATUS_SUCCESS) {
        throw std::runtime_error(std::string{"mkl: "} + call + ": status " +
                                 std::to_string(status));
    }
}

/// A matrix of the library and the bytes that it stores beside the one it was made from.
struct MklMatrix
{
    std::shared_ptr<sparse_matrix> handle;
    std::size_t bytes = 0;
};

/// The library's view of a matrix, which must outlive it. Throws `NotApplicable` without rows or
/// columns.
template <class T>
MklMatrix mkl_csr(sparse::CsrView<T> const& a)
{
    if (a.rows == 0 || a.columns == 0) {
        throw NotApplicable{"mkl takes no matrix without rows or columns"};
    }
    auto* starts = const_cast<MKL_INT*>(a.row_ptr.data());
    auto* columns = const_cast<MKL_INT*>(a.col.data());
    auto* values = const_cast<T*>(a.values.data());
    sparse_matrix_t matrix = nullptr;
    if constexpr (std::is_same_v<T, float>) {
        check(mkl_sparse_s_create_csr(&matrix, SPARSE_INDEX_BASE_ZERO, a.rows, a.columns, starts,
                                      starts + 1, columns, values),
              "mkl_sparse_s_create_csr");
    } else {
        check(mkl_sparse_d_create_csr(&matrix, SPARSE_INDEX_BASE_ZERO, a.rows, a.columns, starts,
                                      starts + 1, columns, values),
              "mkl_sparse_d_create_csr");
    }
    return {{matrix, mkl_sparse_destroy}};
}

/// No structure that the library could use.
inline constexpr matrix_descr mkl_general{SPARSE_MATRIX_TYPE_GENERAL, SPARSE_FILL_MODE_FULL,
                                          SPARSE_DIAG_NON_UNIT};

/// Inspects a matrix for many multiplies and lets the library store it again as it likes.
inline void mkl_optimize(MklMatrix& matrix)
{
    constexpr int expected_calls = 100'000;
    int buffers = 0;
    auto const before = mkl_mem_stat(&buffers);
    auto* handle = matrix.handle.get();
    check(
        mkl_sparse_set_mv_hint(handle, SPARSE_OPERATION_NON_TRANSPOSE, mkl_general, expected_calls),
        "mkl_sparse_set_mv_hint");
    check(mkl_sparse_set_memory_hint(handle, SPARSE_MEMORY_AGGRESSIVE),
          "mkl_sparse_set_memory_hint");
    check(mkl_sparse_optimize(handle), "mkl_sparse_optimize");
    matrix.bytes += static_cast<std::size_t>(mkl_mem_stat(&buffers) - before);
}

/// `y = A x`.
template <class T>
void mkl_multiply(MklMatrix const& matrix, std::span<T const> x, std::span<T> y)
{
    if constexpr (std::is_same_v<T, float>) {
        check(mkl_sparse_s_mv(SPARSE_OPERATION_NON_TRANSPOSE, 1, matrix.handle.get(), mkl_general,
                              x.data(), 0, y.data()),
              "mkl_sparse_s_mv");
    } else {
        check(mkl_sparse_d_mv(SPARSE_OPERATION_NON_TRANSPOSE, 1, matrix.handle.get(), mkl_general,
                              x.data(), 0, y.data()),
              "mkl_sparse_d_mv");
    }
}

/// `y = A x` with a matrix of the library, on that many threads.
template <class T>
SpmvOperator<T> mkl_product(MklMatrix const& matrix, int threads)
{
    return {matrix.bytes, [matrix, threads](std::span<T const> x, std::span<T> y) {
                MklThreads const here{threads};
                mkl_multiply(matrix, x, y);
            }};
}

} // namespace peers
