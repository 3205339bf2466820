#include "dense/gpu/gemm_half.hpp"

#include "dense/gpu/gemm_steps.hpp"

namespace dense::gpu {

namespace {

template <class T>
void plain_mma(Matrix<T const> a, Matrix<T const> b, Matrix<T> c, cuda::Stream const& stream)
{
    multiply_by_mma(1, a, b, 0, c, stream);
}

template <class T>
void plain_wgmma(Matrix<T const> a, Matrix<T const> b, Matrix<T> c, cuda::Stream const& stream)
{
    multiply_by_wgmma(1, a, b, 0, c, stream);
}

template <class T>
std::vector<Step<T>> steps()
{
    return {{"mma_sync", plain_mma<T>, refuses_mma<T>},
            {"wgmma_tiles", plain_wgmma<T>, refuses_wgmma<T>}};
}

} // namespace

template <>
std::vector<Step<base::fp16>> gemm_steps()
{
    return steps<base::fp16>();
}

template <>
std::vector<Step<base::bf16>> gemm_steps()
{
    return steps<base::bf16>();
}

} // namespace dense::gpu
