#pragma once

#include "peers/spmv.hpp"
#include "spmv/device/csr.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace peers {

/// A matrix as a library holds it in device memory, ready to be multiplied.
template <class T>
class GpuSpmvOperator
{
public:
    /// Puts `y = A x` into the stream that the operator was made for; all memory is the device's.
    using Multiply = std::function<void(T const* x, T* y)>;

    /// `stored_bytes` is what is stored beside the matrix it was made from.
    GpuSpmvOperator(std::size_t stored_bytes, Multiply multiply)
        : bytes_{stored_bytes}, multiply_{std::move(multiply)}
    {
    }

    /// Bytes that are stored beside the matrix it was made from.
    std::size_t bytes() const { return bytes_; }

    /// Puts `y = A x` into the stream.
    void operator()(T const* x, T* y) const { multiply_(x, y); }

private:
    std::size_t bytes_;
    Multiply multiply_;
};

/// A matrix on the host and its copy in device memory.
template <class T>
struct GpuMatrix
{
    sparse::CsrView<T> host;
    spmv::gpu::CsrView<T> device;
};

/// A way of a library to multiply on a GPU.
template <class T>
struct GpuSpmvPeer
{
    /// Converts a matrix, which must outlive the operator. Throws `NotApplicable` if the format is
    /// not made for it.
    using Make = std::function<GpuSpmvOperator<T>(GpuMatrix<T> const& a, cudaStream_t stream)>;

    std::string name;    ///< "cusparse_csr1"
    std::string excerpt; ///< name of the marked source text
    std::string version; ///< of the library in use; empty if it is not available
    std::string missing; ///< why it is not available; empty if it is
    Make make;           ///< empty if the library is not available
};

/// The ways of cuSPARSE, which is loaded when this is called first: CSR with algorithms 1 and 2, 1
/// with its preprocessing, sliced ELLPACK, and dense blocks. `T` is float or double.
template <class T>
std::vector<GpuSpmvPeer<T>> cusparse();

} // namespace peers
