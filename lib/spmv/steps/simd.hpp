#pragma once

#include "spmv/steps/kernel.hpp"

#include <array>
#include <span>

/// \file
/// Serial `y = A x` written with intrinsics. Each group is compiled for its instruction set and
/// must run only where `simd_kernels` says so.

namespace spmv {

/// Four products at a time: elements of `x` are loaded one by one and inserted into a vector. This
/// is on x86 what `neon` is on AArch64. Needs AVX2 and FMA.
void scalar_inserts(sparse::CsrView<float> const& a, std::span<float const> x, std::span<float> y);
/// As above in double precision.
void scalar_inserts(sparse::CsrView<double> const& a, std::span<double const> x,
                    std::span<double> y);

/// One gather instruction loads the elements of `x`: eight in single precision. Needs AVX2 and FMA.
void avx2_gather(sparse::CsrView<float> const& a, std::span<float const> x, std::span<float> y);
/// As above in double precision: four elements.
void avx2_gather(sparse::CsrView<double> const& a, std::span<double const> x, std::span<double> y);

/// Vectors of 64 bytes; the end of a row is one more step under a mask. Needs AVX-512F and VL.
void avx512_gather(sparse::CsrView<float> const& a, std::span<float const> x, std::span<float> y);
/// As above in double precision.
void avx512_gather(sparse::CsrView<double> const& a, std::span<double const> x,
                   std::span<double> y);

/// Four products at a time: elements of `x` are loaded into the lanes of a vector. AArch64 only.
void neon(sparse::CsrView<float> const& a, std::span<float const> x, std::span<float> y);
/// As above in double precision: two products at a time.
void neon(sparse::CsrView<double> const& a, std::span<double const> x, std::span<double> y);

/// As `avx2_gather`, for matrices each row of which is one run of columns: a plain load has the
/// elements of `x`. Needs AVX2 and FMA.
void avx2_load(sparse::CsrView<double> const& a, std::span<double const> x, std::span<double> y);

/// The kernels of this file that multiply any matrix, those that cannot run here with the reason.
/// `T` is float or double.
template <class T>
std::span<Kernel<T> const> simd_kernels();

/// Four elements of `x` for matrices each row of which is one run of columns: inserted one by one
/// (x_inserted), gathered (x_gathered) and loaded (x_loaded). Reasons as above.
std::array<Kernel<double>, 3> vectors_of_x();

} // namespace spmv
