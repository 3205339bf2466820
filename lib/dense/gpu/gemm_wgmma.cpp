#include "dense/gpu/gemm_half.hpp"

#include "cuda/error.hpp"
#include "dense/gpu/gemm_wgmma.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace dense::gpu {

bool has_wgmma()
{
    int device = 0;
    int major = 0;
    cuda::check(cudaGetDevice(&device));
    cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    return major == 9;
}

template <class T>
bool can_load_boxes(Matrix<T const> const& m)
{
    constexpr std::int64_t pack = 16; // bytes
    return reinterpret_cast<std::uintptr_t>(m.data) % pack == 0 &&
           m.stride * static_cast<std::int64_t>(sizeof(T)) % pack == 0;
}

template <class T>
std::string_view refuses_wgmma(Matrix<T const> const& a, Matrix<T const> const& b,
                               Matrix<T> const& /*c*/)
{
    if (!has_wgmma()) {
        return "it is made for GPUs of compute capability 9.0";
    }
    return can_load_boxes(a) && can_load_boxes(b)
               ? ""
               : "the copy engine takes rows that begin at multiples of 16 bytes";
}

template <class T>
void multiply_by_wgmma(double alpha, Matrix<T const> a, Matrix<T const> b, double beta, Matrix<T> c,
                       cuda::Stream const& stream)
{
    auto const plans = wgmma_plans(wgmma_problem(a, b));
    multiply_by_wgmma(plans.front(), alpha, a, b, beta, c, stream);
}

#define INSTANTIATE(T)                                                                             \
    template void multiply_by_wgmma(double, Matrix<T const>, Matrix<T const>, double, Matrix<T>,   \
                                    cuda::Stream const&);                                          \
    template bool can_load_boxes(Matrix<T const> const&);                                          \
    template std::string_view refuses_wgmma(Matrix<T const> const&, Matrix<T const> const&,        \
                                            Matrix<T> const&)
INSTANTIATE(base::fp16);
INSTANTIATE(base::bf16);
#undef INSTANTIATE

} // namespace dense::gpu
