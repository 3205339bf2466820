#pragma once

#include "spmv/steps/kernel.hpp"

#include <span>

namespace spmv {

/// The loop in `textbook_flags.cpp` compiled with one set of flags after the other, slowest first:
/// textbook_O0, _O1, _O2, _O3, _native (-O3 -march=native) and _fast_math (with -ffast-math and
/// -fomit-frame-pointer). The last two are missing where the build option `native` is empty and in
/// cross builds. `T` is float or double.
template <class T>
std::span<Kernel<T> const> flag_ladder();

/// The same loop with -O1 (loop_O1), with all flags (loop_fast_math), and with all but what these
/// let the compiler do: vectors (loop_no_vectors), fused multiply-adds (loop_no_fma), and both
/// (loop_no_vectors_no_fma). All but the first may be missing as above. `T` is float or double.
template <class T>
std::span<Kernel<T> const> flags_removed();

} // namespace spmv
