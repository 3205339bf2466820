#pragma once

#include "peers/spmv.hpp"

/// \file
/// One function per foreign library; each is defined only if the library was found. Elsewhere use
/// `spmv_peers`.

namespace peers {

/// Eigen: `y.noalias() = A * x` on the caller's arrays.
template <class T>
SpmvPeer<T> eigen();

/// librsb: recursive sparse blocks.
template <class T>
SpmvPeer<T> librsb(Tuning tuning);

/// Intel oneAPI Math Kernel Library: inspector-executor interface with hints.
template <class T>
SpmvPeer<T> mkl();

} // namespace peers
