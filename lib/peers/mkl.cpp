#include "peers/adapters.hpp"

#include <mkl_service.h>
#include <mkl_spblas.h>

#include <memory>
#include <stdexcept>
#include <type_traits>

namespace peers {

namespace {

void check(sparse_status_t status, char const* call)
{
    if (status != SPARSE_STATUS_SUCCESS) {
        throw std::runtime_error(std::string{"mkl: "} + call + ": status " +
                                 std::to_string(status));
    }
}

sparse_status_t create(sparse_matrix_t* matrix, sparse::CsrView<float> const& a)
{
    auto* starts = const_cast<MKL_INT*>(a.row_ptr.data());
    return mkl_sparse_s_create_csr(matrix, SPARSE_INDEX_BASE_ZERO, a.rows, a.columns, starts,
                                   starts + 1, const_cast<MKL_INT*>(a.col.data()),
                                   const_cast<float*>(a.values.data()));
}

sparse_status_t create(sparse_matrix_t* matrix, sparse::CsrView<double> const& a)
{
    auto* starts = const_cast<MKL_INT*>(a.row_ptr.data());
    return mkl_sparse_d_create_csr(matrix, SPARSE_INDEX_BASE_ZERO, a.rows, a.columns, starts,
                                   starts + 1, const_cast<MKL_INT*>(a.col.data()),
                                   const_cast<double*>(a.values.data()));
}

//! [mkl]
template <class T>
SpmvOperator<T> mkl_operator(sparse::CsrView<T> const& a)
{
    int buffers = 0;
    auto const bytes_before = mkl_mem_stat(&buffers);
    sparse_matrix_t handle = nullptr;
    check(create(&handle, a), "mkl_sparse_create_csr");
    std::shared_ptr<sparse_matrix> const matrix{handle, mkl_sparse_destroy};

    matrix_descr const general{SPARSE_MATRIX_TYPE_GENERAL, SPARSE_FILL_MODE_FULL,
                               SPARSE_DIAG_NON_UNIT};
    constexpr int expected_calls = 100'000;
    check(mkl_sparse_set_mv_hint(handle, SPARSE_OPERATION_NON_TRANSPOSE, general, expected_calls),
          "mkl_sparse_set_mv_hint");
    check(mkl_sparse_set_memory_hint(handle, SPARSE_MEMORY_AGGRESSIVE),
          "mkl_sparse_set_memory_hint");
    check(mkl_sparse_optimize(handle), "mkl_sparse_optimize");
    auto const bytes = static_cast<std::size_t>(mkl_mem_stat(&buffers) - bytes_before);

    return {bytes, [matrix, general](std::span<T const> x, std::span<T> y) {
                if constexpr (std::is_same_v<T, float>) {
                    check(mkl_sparse_s_mv(SPARSE_OPERATION_NON_TRANSPOSE, 1, matrix.get(), general,
                                          x.data(), 0, y.data()),
                          "mkl_sparse_s_mv");
                } else {
                    check(mkl_sparse_d_mv(SPARSE_OPERATION_NON_TRANSPOSE, 1, matrix.get(), general,
                                          x.data(), 0, y.data()),
                          "mkl_sparse_d_mv");
                }
            }};
}
//! [mkl]

std::string version()
{
    MKLVersion found{};
    mkl_get_version(&found);
    return std::to_string(found.MajorVersion) + "." + std::to_string(found.MinorVersion) + "." +
           std::to_string(found.UpdateVersion);
}

} // namespace

template <class T>
SpmvPeer<T> mkl()
{
    return {"mkl", version(), "", mkl_operator<T>};
}

template SpmvPeer<float> mkl();
template SpmvPeer<double> mkl();

} // namespace peers
