#include "spmv/gpu/steps/padded.hpp"

#include "spmv/device/threads.cuh"

#include "cuda/error.hpp"

#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/transform_scan.h>

namespace spmv::gpu {

namespace {

template <class T>
struct PaddedLength
{
    CsrView<T> a;

    __device__ std::int64_t operator()(std::int32_t row) const
    {
        return ceil_div(a.row_ptr[row + 1] - a.row_ptr[row], row_alignment) * row_alignment;
    }
};

//! [padded_rows]
template <class T>
__global__ void fill_rows(CsrView<T> a, std::int64_t const* row_end, std::int32_t* row_ptr,
                          std::int32_t* col, T* values)
{
    std::int64_t const row = global_thread() / row_alignment;
    int const lane = threadIdx.x % row_alignment;
    if (row >= a.rows) {
        return;
    }
    auto const begin = row == 0 ? 0 : static_cast<std::int32_t>(row_end[row - 1]);
    auto const end = static_cast<std::int32_t>(row_end[row]);
    if (lane == 0) {
        row_ptr[row] = begin;
        row_ptr[row + 1] = end;
    }
    std::int32_t const last = a.row_ptr[row + 1] - 1;
    for (std::int32_t to = begin + lane; to < end; to += row_alignment) {
        std::int32_t const from = a.row_ptr[row] + to - begin;
        col[to] = a.col[min(from, last)];
        values[to] = from <= last ? a.values[from] : T{0};
    }
}
//! [padded_rows]

} // namespace

template <class T>
Csr<T> with_padded_rows(CsrView<T> const& a, cudaStream_t stream)
{
    ::cuda::Buffer<std::int64_t> row_end(static_cast<std::size_t>(a.rows));
    thrust::transform_inclusive_scan(
        thrust::cuda::par_nosync.on(stream), thrust::counting_iterator<std::int32_t>{0},
        thrust::counting_iterator<std::int32_t>{a.rows}, row_end.data(), PaddedLength<T>{a},
        thrust::plus<std::int64_t>{});
    ::cuda::check(cudaStreamSynchronize(stream));
    std::int64_t nonzeros = 0;
    if (a.rows > 0) {
        ::cuda::check(cudaMemcpy(&nonzeros, row_end.data() + a.rows - 1, sizeof nonzeros,
                                 cudaMemcpyDeviceToHost));
    }
    Csr<T> padded{a.rows, a.columns, nonzeros};
    if (a.rows == 0) {
        ::cuda::check(cudaMemset(padded.row_ptr.data(), 0, padded.row_ptr.bytes()));
        return padded;
    }
    auto const blocks = static_cast<unsigned>(ceil_div(std::int64_t{a.rows} * row_alignment, 256));
    fill_rows<<<blocks, 256, 0, stream>>>(a, row_end.data(), padded.row_ptr.data(),
                                          padded.col.data(), padded.values.data());
    ::cuda::check_launch();
    ::cuda::check(cudaStreamSynchronize(stream));
    return padded;
}

template Csr<float> with_padded_rows(CsrView<float> const&, cudaStream_t);
template Csr<double> with_padded_rows(CsrView<double> const&, cudaStream_t);

} // namespace spmv::gpu
