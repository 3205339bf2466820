#include "spmv/gpu/wide_plan.hpp"

#include "spmv/device/threads.cuh"

#include "cuda/error.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace spmv::gpu {

namespace {

constexpr int narrowing_threads = 256;

/// Offsets of a part, from its first nonzero on. One that lies outside the part becomes -1, which
/// plans refuse, so that none becomes right by losing its upper half.
__global__ void narrow(std::int64_t const* from, std::int32_t count, std::int64_t first,
                       std::int64_t nonzeros, std::int32_t* to)
{
    std::int64_t const i = global_thread();
    if (i < count) {
        std::int64_t const offset = from[i] - first;
        to[i] = offset < 0 || offset > nonzeros ? -1 : static_cast<std::int32_t>(offset);
    }
}

std::int64_t offset_at(std::int64_t const* row_ptr, std::int64_t row)
{
    std::int64_t offset = 0;
    ::cuda::copy_to_host(&offset, row_ptr + row, sizeof offset);
    return offset;
}

/// The row at which a part ends that begins with `first`: the last one up to which it has at most
/// so many nonzeros.
template <class T>
std::int32_t end_of_part(WideCsrView<T> const& a, std::int32_t first, std::int64_t most)
{
    std::int64_t const begin = offset_at(a.row_ptr, first);
    std::int32_t fits = first;
    std::int64_t too_far = std::int64_t{a.rows} + 1;
    while (fits + 1 < too_far) {
        auto const middle = static_cast<std::int32_t>(fits + (too_far - fits) / 2);
        if (offset_at(a.row_ptr, middle) - begin <= most) {
            fits = middle;
        } else {
            too_far = middle;
        }
    }
    return fits;
}

/// Rows `first` to `end` of a matrix, with arrays of their own.
template <class T>
Csr<T> part_of(WideCsrView<T> const& a, std::int32_t first, std::int32_t end, cudaStream_t stream)
{
    std::int64_t const begin = offset_at(a.row_ptr, first);
    std::int64_t const nonzeros = offset_at(a.row_ptr, end) - begin;
    if (begin < 0 || nonzeros < 0 || begin + nonzeros > a.nonzeros) {
        throw std::invalid_argument{
            "CSR on a GPU: found rows " + std::to_string(first) + " to " + std::to_string(end) +
            " in entries " + std::to_string(begin) + " to " + std::to_string(begin + nonzeros) +
            ", expected offsets that never fall, up to " + std::to_string(a.nonzeros)};
    }
    Csr<T> part{end - first, a.columns, nonzeros};
    narrow<<<static_cast<unsigned>(ceil_div(part.rows + 1, narrowing_threads)), narrowing_threads,
             0, stream>>>(a.row_ptr + first, part.rows + 1, begin, nonzeros, part.row_ptr.data());
    ::cuda::check_launch();
    auto const copy = [&](auto* to, auto const* from) {
        ::cuda::check(cudaMemcpyAsync(to, from + begin, sizeof *to * nonzeros,
                                      cudaMemcpyDeviceToDevice, stream));
    };
    copy(part.col.data(), a.col);
    copy(part.values.data(), a.values);
    ::cuda::check(cudaStreamSynchronize(stream));
    return part;
}

template <class T>
void check_view(WideCsrView<T> const& a, std::int64_t nonzeros_of_part)
{
    if (a.rows < 0 || a.columns < 0 || a.nonzeros < 0 || nonzeros_of_part < 1 ||
        nonzeros_of_part > most_nonzeros) {
        throw std::invalid_argument{
            "CSR on a GPU: found " + std::to_string(a.rows) + " rows, " +
            std::to_string(a.columns) + " columns, " + std::to_string(a.nonzeros) +
            " nonzeros and parts of " + std::to_string(nonzeros_of_part) +
            ", expected none below 0 and parts of 1 to " + std::to_string(most_nonzeros)};
    }
    if (a.row_ptr == nullptr || (a.nonzeros > 0 && (a.col == nullptr || a.values == nullptr))) {
        throw std::invalid_argument{"CSR on a GPU: found a null pointer, expected arrays"};
    }
}

} // namespace

template <class T>
WidePlan<T>::WidePlan(WideCsrView<T> const& a, cudaStream_t stream, PlanOptions const& options,
                      std::int64_t nonzeros_of_part)
{
    check_view(a, nonzeros_of_part);
    ::cuda::check(cudaStreamSynchronize(stream)); // the offsets stand
    if (offset_at(a.row_ptr, 0) != 0 || offset_at(a.row_ptr, a.rows) != a.nonzeros) {
        throw std::invalid_argument{
            "CSR on a GPU: found row offsets from " + std::to_string(offset_at(a.row_ptr, 0)) +
            " to " + std::to_string(offset_at(a.row_ptr, a.rows)) + ", expected 0 to " +
            std::to_string(a.nonzeros) + ", the number of nonzeros"};
    }
    for (std::int32_t first = 0; first < a.rows;) {
        std::int32_t const end = end_of_part(a, first, nonzeros_of_part);
        if (end == first) {
            throw std::length_error{"CSR on a GPU: row " + std::to_string(first) +
                                    " has more than " + std::to_string(nonzeros_of_part) +
                                    " nonzeros, expected at most those of a part"};
        }
        std::optional<Csr<T>> part{part_of(a, first, end, stream)};
        Plan<T> plan{part->view(), stream, options};
        if (!plan.borrows()) {
            part.reset();
        }
        parts_.push_back({first, std::move(part), std::move(plan)});
        first = end;
    }
}

template <class T>
void WidePlan<T>::operator()(T const* x, T* y, cudaStream_t stream) const
{
    (*this)(T{1}, x, T{0}, y, stream);
}

template <class T>
void WidePlan<T>::operator()(T alpha, T const* x, T beta, T* y, cudaStream_t stream) const
{
    for (auto const& part : parts_) {
        part.plan(alpha, x, beta, y + part.first_row, stream);
    }
}

template <class T>
bool WidePlan<T>::repeats() const
{
    return std::ranges::all_of(parts_, [](Part const& part) { return part.plan.repeats(); });
}

template <class T>
std::size_t WidePlan<T>::bytes() const
{
    std::size_t bytes = 0;
    for (auto const& part : parts_) {
        bytes += part.plan.bytes() + (part.matrix ? part.matrix->bytes() : 0);
    }
    return bytes;
}

template <class T>
std::string WidePlan<T>::explain() const
{
    std::string lines;
    for (auto const& part : parts_) {
        lines += (lines.empty() ? "from row " : "\nfrom row ") + std::to_string(part.first_row) +
                 ": " + part.plan.explain();
    }
    return lines;
}

template class WidePlan<float>;
template class WidePlan<double>;

} // namespace spmv::gpu
