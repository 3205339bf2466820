#include "ceilings/fma.hpp"

#include <omp.h>

namespace ceilings {

template <class T>
void run_fma(FmaKernel<T> kernel, std::span<T const> start, T x, T y, std::span<T> sum, int threads)
{
#pragma omp parallel num_threads(threads)
    {
        auto const thread = static_cast<std::size_t>(omp_get_thread_num());
        kernel(start.data(), x, y, fma_steps, sum.data() + thread * fma_elements<T>);
    }
}

template void run_fma(FmaKernel<float>, std::span<float const>, float, float, std::span<float>,
                      int);
template void run_fma(FmaKernel<double>, std::span<double const>, double, double, std::span<double>,
                      int);

} // namespace ceilings
