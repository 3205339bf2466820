#include "peers/cusparse_slices.hpp"

#include "peers/spmv.hpp"

#include "cuda/error.hpp"

#include <limits>
#include <vector>

namespace peers {

namespace {

constexpr int threads = 128;

template <class T>
__global__ void find_widths(spmv::gpu::CsrView<T> a, int slices, std::int32_t* width)
{
    int const slice = static_cast<int>(blockIdx.x * threads + threadIdx.x) / cusparse_slice_rows;
    int const row = static_cast<int>(blockIdx.x * threads + threadIdx.x);
    int length = row < a.rows ? a.row_ptr[row + 1] - a.row_ptr[row] : 0;
    for (int distance = cusparse_slice_rows / 2; distance > 0; distance /= 2) {
        length = max(length, __shfl_xor_sync(0xffffffffu, length, distance));
    }
    if (slice < slices && threadIdx.x % cusparse_slice_rows == 0) {
        width[slice] = length;
    }
}

template <class T>
__global__ void fill_slices(spmv::gpu::CsrView<T> a, std::int32_t slices, std::int32_t const* begin,
                            std::int32_t* col, T* values)
{
    auto const row = static_cast<int>(blockIdx.x * threads + threadIdx.x);
    int const slice = row / cusparse_slice_rows;
    if (slice >= slices) {
        return;
    }
    std::int32_t const first = row < a.rows ? a.row_ptr[row] : 0;
    std::int32_t const last = row < a.rows ? a.row_ptr[row + 1] : 0;
    std::int32_t p = first;
    for (std::int32_t to = begin[slice] + row % cusparse_slice_rows; to < begin[slice + 1];
         to += cusparse_slice_rows, ++p) {
        col[to] = p < last ? a.col[p] : -1;
        values[to] = p < last ? a.values[p] : T{0};
    }
}

} // namespace

template <class T>
CusparseSlices<T> cusparse_slices(spmv::gpu::CsrView<T> const& a, cudaStream_t stream)
{
    std::int32_t const slices = (a.rows + cusparse_slice_rows - 1) / cusparse_slice_rows;
    unsigned const blocks =
        (static_cast<unsigned>(slices) * cusparse_slice_rows + threads - 1) / threads;
    ::cuda::Buffer<std::int32_t> width(static_cast<std::size_t>(slices));
    if (blocks > 0) {
        find_widths<<<blocks, threads, 0, stream>>>(a, slices, width.data());
        ::cuda::check_launch();
        ::cuda::check(cudaStreamSynchronize(stream));
    }
    std::int64_t elements = 0;
    std::vector<std::int32_t> begin{0};
    for (auto const steps : width.download()) {
        elements += std::int64_t{steps} * cusparse_slice_rows;
        begin.push_back(static_cast<std::int32_t>(elements));
        if (elements > std::numeric_limits<std::int32_t>::max() ||
            elements > 10 * (std::int64_t{a.nonzeros} + cusparse_slice_rows)) {
            throw NotApplicable{"slices would store more than ten elements for each nonzero"};
        }
    }
    CusparseSlices<T> made{::cuda::Buffer<std::int32_t>{std::span<std::int32_t const>{begin}},
                           ::cuda::Buffer<std::int32_t>(static_cast<std::size_t>(elements)),
                           ::cuda::Buffer<T>(static_cast<std::size_t>(elements))};
    if (blocks > 0) {
        fill_slices<<<blocks, threads, 0, stream>>>(a, slices, made.begin.data(), made.col.data(),
                                                    made.values.data());
        ::cuda::check_launch();
        ::cuda::check(cudaStreamSynchronize(stream));
    }
    return made;
}

template CusparseSlices<float> cusparse_slices(spmv::gpu::CsrView<float> const&, cudaStream_t);
template CusparseSlices<double> cusparse_slices(spmv::gpu::CsrView<double> const&, cudaStream_t);

} // namespace peers
