#include "spmv/device/csr.hpp"

#include "cuda/error.hpp"
#include "sparse/check.hpp"
#include "sparse/convert.hpp"

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace spmv::gpu {

namespace {

std::size_t checked(std::int64_t count, char const* what)
{
    if (count < 0) {
        throw std::invalid_argument{"GPU matrix: found " + std::to_string(count) + " " + what +
                                    ", expected 0 or more"};
    }
    if (count > most_nonzeros) {
        throw std::length_error{"GPU matrix: found " + std::to_string(count) + " " + what +
                                ", expected at most " + std::to_string(most_nonzeros)};
    }
    return static_cast<std::size_t>(count);
}

template <class T>
void copy_to(::cuda::Buffer<T>& buffer, std::span<T const> host)
{
    ::cuda::check(
        cudaMemcpy(buffer.data(), host.data(), host.size_bytes(), cudaMemcpyHostToDevice));
}

template <class T>
Csr<T> copy_of(sparse::CsrView<T> const& host)
{
    Csr<T> copy{host.rows, host.columns, static_cast<std::int64_t>(host.nonzeros())};
    copy_to(copy.row_ptr, host.row_ptr);
    copy_to(copy.col, host.col);
    copy_to(copy.values, host.values);
    return copy;
}

} // namespace

template <class T>
Csr<T>::Csr(std::int32_t row_count, std::int32_t column_count, std::int64_t nonzero_count)
    : rows{row_count}, columns{column_count}, nonzeros{static_cast<std::int32_t>(nonzero_count)},
      row_ptr(checked(row_count, "rows") + 1),
      col(checked(nonzero_count, "nonzeros") + csr_padding), values(col.size())
{
    auto const zero = [&](auto* end) {
        ::cuda::check(cudaMemset(end, 0, sizeof *end * csr_padding));
    };
    zero(col.data() + nonzeros);
    zero(values.data() + nonzeros);
}

template <class T>
Csr<T>::Csr(sparse::CsrView<T> const& host)
    : Csr{sparse::has_sorted_rows(host) ? copy_of<T>(host) : copy_of<T>(sparse::sorted(host))}
{
}

template struct Csr<float>;
template struct Csr<double>;

} // namespace spmv::gpu
