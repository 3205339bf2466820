#include "peers/mkl_gemm.hpp"

#include <stdexcept>

namespace peers {

MklGemm::MklGemm(int)
    : missing{"MKL was not found when this was built; just setup-peers installs it"}
{
}

template <class T>
void MklGemm::gemm(dense::Matrix<T const>, dense::Matrix<T const>, dense::Matrix<T>, int) const
{
    throw std::logic_error{missing};
}

template void MklGemm::gemm(dense::Matrix<float const>, dense::Matrix<float const>,
                            dense::Matrix<float>, int) const;
template void MklGemm::gemm(dense::Matrix<double const>, dense::Matrix<double const>,
                            dense::Matrix<double>, int) const;

} // namespace peers
