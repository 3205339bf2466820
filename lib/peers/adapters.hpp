#pragma once

#include "peers/spmv.hpp"

/// \file
/// One function per foreign library; each is defined only if the library was found. Elsewhere use
/// `spmv_peers`.

namespace peers {

/// Eigen: `y.noalias() = A * x` on the caller's arrays. Uses several threads beyond 20,000
/// nonzeros.
template <class T>
SpmvPeer<T> eigen(PeerOptions options);

/// librsb: recursive sparse blocks, their sizes tuned.
template <class T>
SpmvPeer<T> librsb(PeerOptions options);

/// Intel oneAPI Math Kernel Library: compressed sparse rows, inspected and optimised or as they
/// are, whichever is faster.
template <class T>
SpmvPeer<T> mkl(PeerOptions options);

/// As above with small dense blocks, of the fastest size and layout.
template <class T>
SpmvPeer<T> mkl_bsr(PeerOptions options);

} // namespace peers
