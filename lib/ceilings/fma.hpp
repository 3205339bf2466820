#pragma once

#include "ceilings/instruction_set.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace ceilings {

/// Dependent multiply-adds of every chain in one call; small enough that sums of products of the
/// integers 1 to 3 stay exact in single precision.
inline constexpr std::size_t fma_steps = std::size_t{1} << 18;

/// One thread's kernel of an `InstructionSet`.
template <class T>
using FmaKernel = void (*)(T const* start, T x, T y, std::size_t steps, T* sum);

/// Runs `kernel` on each of `threads` OpenMP threads at once: `sum[i] = start[i] + fma_steps * x *
/// y` with `fma_elements<T>` elements in `start` and that many for each thread in `sum`.
template <class T>
void run_fma(FmaKernel<T> kernel, std::span<T const> start, T x, T y, std::span<T> sum,
             int threads);

/// A way to use the multiply-add units, which this CPU may lack.
template <class T>
struct FmaVariant
{
    std::string name;    ///< "fma_avx512", ...
    std::string missing; ///< why it cannot run here; empty if it can
    FmaKernel<T> kernel; ///< null if it cannot run here
};

/// One chain with the widest vectors ("fma_one_chain"), then twelve with each instruction set.
template <class T>
std::vector<FmaVariant<T>> fma_variants();

/// Floating-point operations of one `run_fma`: two for each multiply-add.
template <class T>
constexpr double fma_flops(int threads)
{
    return 2.0 * static_cast<double>(fma_steps * fma_elements<T>) * threads;
}

} // namespace ceilings
