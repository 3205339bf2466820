#include "peers/mkl_gemm.hpp"

#include "peers/mkl_service.hpp"

#include <mkl_cblas.h>

#include <type_traits>

namespace peers {

MklGemm::MklGemm(int threads)
{
    start_mkl(threads);
    version = mkl_version();
}

template <class T>
void MklGemm::gemm(dense::Matrix<T const> a, dense::Matrix<T const> b, dense::Matrix<T> c,
                   int threads) const
{
    auto const size = [](std::int64_t value) { return static_cast<MKL_INT>(value); };
    constexpr auto call = [] {
        if constexpr (std::is_same_v<T, float>) {
            return cblas_sgemm;
        } else {
            return cblas_dgemm;
        }
    }();
    //! [mkl_gemm]
    MklThreads const here{threads};
    call(CblasRowMajor, CblasNoTrans, CblasNoTrans, size(c.rows), size(c.columns), size(a.columns),
         T{1}, a.data, size(a.stride), b.data, size(b.stride), T{0}, c.data, size(c.stride));
    //! [mkl_gemm]
}

template void MklGemm::gemm(dense::Matrix<float const>, dense::Matrix<float const>,
                            dense::Matrix<float>, int) const;
template void MklGemm::gemm(dense::Matrix<double const>, dense::Matrix<double const>,
                            dense::Matrix<double>, int) const;

} // namespace peers
