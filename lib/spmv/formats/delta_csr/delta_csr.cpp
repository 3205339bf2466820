#include "spmv/formats/delta_csr/delta_csr.hpp"

#include "sparse/check.hpp"
#include "spmv/formats/stretches.hpp"

#include <limits>
#include <string>

namespace sparse {

namespace {

constexpr std::int32_t farthest = std::numeric_limits<std::uint16_t>::max();

} // namespace

template <class T>
std::size_t DeltaCsr<T>::bytes() const
{
    return bytes_of(row_ptr, first, offset, values);
}

template <class T>
DeltaCsr<T> to_delta_csr(CsrView<T> const& a)
{
    require_sorted_rows(a);
    DeltaCsr<T> narrow;
    narrow.rows = a.rows;
    narrow.columns = a.columns;
    narrow.row_ptr.assign(a.row_ptr.begin(), a.row_ptr.end());
    narrow.first.resize(static_cast<std::size_t>(a.rows));
    narrow.offset.resize(a.nonzeros());
    narrow.values.resize(a.nonzeros());
    parallel_units(a.rows, [&](std::int32_t row) {
        auto const begin = a.row_ptr[row];
        auto const end = a.row_ptr[row + 1];
        std::int32_t const first = begin < end ? a.col[begin] : 0;
        narrow.first[row] = first;
        if (begin < end && a.col[end - 1] - first > farthest) {
            throw std::length_error{"the columns of row " + std::to_string(row) + " differ by " +
                                    std::to_string(a.col[end - 1] - first) +
                                    ", a 16-bit offset reaches " + std::to_string(farthest)};
        }
        for (auto p = begin; p < end; ++p) {
            narrow.offset[p] = static_cast<std::uint16_t>(a.col[p] - first);
            narrow.values[p] = a.values[p];
        }
    });
    return narrow;
}

template struct DeltaCsr<float>;
template struct DeltaCsr<double>;
template DeltaCsr<float> to_delta_csr(CsrView<float> const&);
template DeltaCsr<double> to_delta_csr(CsrView<double> const&);

} // namespace sparse
