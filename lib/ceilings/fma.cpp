#include "ceilings/fma.hpp"

#include <omp.h>

#include <algorithm>

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

template <class T>
std::vector<FmaVariant<T>> fma_variants()
{
    std::vector<FmaVariant<T>> variants{{"fma_one_chain", "", widest<T>().fma_one_chain}};
    auto const sets = instruction_sets<T>();
    for (std::string const name : {"avx512", "avx2", "sse2", "neon"}) {
        auto const found = std::ranges::find(sets, name, &InstructionSet<T>::name);
        if (found != sets.end()) {
            variants.push_back({"fma_" + name, "", found->fma_chains});
        } else {
            variants.push_back({"fma_" + name, "this CPU has no " + name, nullptr});
        }
    }
    return variants;
}

template std::vector<FmaVariant<float>> fma_variants();
template std::vector<FmaVariant<double>> fma_variants();
template void run_fma(FmaKernel<float>, std::span<float const>, float, float, std::span<float>,
                      int);
template void run_fma(FmaKernel<double>, std::span<double const>, double, double, std::span<double>,
                      int);

} // namespace ceilings
