#include "dense/gpu/gemm_half.hpp"

namespace dense::gpu {

// Refused everywhere until its kernel is here.
template <class T>
std::string_view refuses_wgmma(Matrix<T const> const&, Matrix<T const> const&, Matrix<T> const&)
{
    return "it has no kernel yet";
}

template <class T>
void multiply_by_wgmma(Matrix<T const> a, Matrix<T const> b, Matrix<T> c,
                       cuda::Stream const& stream)
{
    multiply_by_mma(1, a, b, 0, c, stream);
}

#define INSTANTIATE(T)                                                                             \
    template void multiply_by_wgmma(Matrix<T const>, Matrix<T const>, Matrix<T>,                   \
                                    cuda::Stream const&);                                          \
    template std::string_view refuses_wgmma(Matrix<T const> const&, Matrix<T const> const&,        \
                                            Matrix<T> const&)
INSTANTIATE(base::fp16);
INSTANTIATE(base::bf16);
#undef INSTANTIATE

} // namespace dense::gpu
