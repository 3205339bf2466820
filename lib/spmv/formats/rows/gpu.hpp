#pragma once

#include "spmv/formats/gpu.hpp"

namespace spmv::gpu {

/// One thread for each row, in blocks of 512: the first kernel of article 1, which adds to the old
/// `y` where it should overwrite it.
template <class T>
void thread_per_row(CsrView<T> const& a, T const* x, T* y, cudaStream_t stream);

/// `lanes` neighbouring threads (2, 4, 8, 16 or 32) for each row, in blocks of 256; their sums are
/// added through shuffles (article 5, after Bell and Garland 2009). Throws `std::invalid_argument`
/// for another number of lanes.
template <class T>
void vector_shuffle(int lanes, CsrView<T> const& a, T const* x, T* y, cudaStream_t stream);

/// As `vector_shuffle`, but the kernel loads the first entries of its rows while the kernel before
/// it in the stream still runs, and waits for that before it touches `x` and `y` (programmatic
/// dependent launch): no other kernel of the stream may be writing the matrix. On devices that
/// cannot overlap launches it is `vector_shuffle`.
template <class T>
void vector_early(int lanes, CsrView<T> const& a, T const* x, T* y, cudaStream_t stream);

/// The same as a plan keeps it: nothing is prepared for it.
template <class T>
class VectorEarly
{
public:
    VectorEarly(CsrView<T> const&, int lanes, cudaStream_t) : lanes_{lanes} {}

    void operator()(CsrView<T> const& a, T const* x, T* y, cudaStream_t stream) const
    {
        vector_early(lanes_, a, x, y, stream);
    }

    std::size_t bytes() const { return 0; }

private:
    int lanes_;
};

/// As `vector_shuffle`, but the sums are added through shared memory.
template <class T>
void vector_shared(int lanes, CsrView<T> const& a, T const* x, T* y, cudaStream_t stream);

/// As `vector_shuffle`, but each lane loads four neighbouring columns at once, and their values,
/// from the last boundary of 16 bytes before its row on.
template <class T>
void vector_wide(int lanes, CsrView<T> const& a, T const* x, T* y, cudaStream_t stream);

/// What plans list of the kernels of rows.
template <int lanes>
struct VectorEarlyFormat : OnCsr<VectorEarly, lanes>
{
    static constexpr FormatName name{lanes == 2    ? "vector_early2"
                                     : lanes == 4  ? "vector_early4"
                                     : lanes == 8  ? "vector_early8"
                                     : lanes == 16 ? "vector_early16"
                                                   : "vector_early32",
                                     "vector_early", "early"};
};

using rows_formats = std::tuple<VectorEarlyFormat<2>, VectorEarlyFormat<4>, VectorEarlyFormat<8>,
                                VectorEarlyFormat<16>, VectorEarlyFormat<32>>;

} // namespace spmv::gpu
