#pragma once

#include "spmv/formats/gpu.hpp"

#include <cstddef>
#include <cstdint>

namespace spmv::gpu {

/// Merge-path (Merrill and Garland 2016): rows and nonzeros are one list, which is cut into equal
/// parts, so that neither long nor empty rows unbalance the blocks. Where the parts begin is found
/// once for a matrix.
template <class T>
class MergePath
{
public:
    /// Finds the parts of `a`.
    MergePath(CsrView<T> const& a, cudaStream_t stream);

    /// Multiplies the matrix that the parts were made for. One multiply at a time.
    void operator()(CsrView<T> const& a, T const* x, T* y, cudaStream_t stream) const;

    /// Bytes beside the matrix.
    std::size_t bytes() const { return first_row_.bytes() + open_sum_.bytes(); }

private:
    ::cuda::Buffer<std::int32_t> first_row_; ///< of each part, and the end
    mutable ::cuda::Buffer<T> open_sum_;     ///< of the row that each part leaves unfinished
};

/// What plans list of it.
struct MergePathFormat : OnCsr<MergePath>
{
    static constexpr FormatName name{"merge_path", "gpu_merge_path", "csr"};
    static constexpr bool repeats = false;
};

using merge_path_formats = std::tuple<MergePathFormat>;

} // namespace spmv::gpu
