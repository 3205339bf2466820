#pragma once

#include "spmv/format_kernels.hpp"

#include "sparse/work.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace spmv {

/// A matrix in some format, cut into parts that threads multiply side by side.
template <class T>
class Parted
{
public:
    virtual ~Parted() = default;

    /// Writes the rows of `y = A x` that belong to part `part`, and no others.
    virtual void multiply(int part, T const* x, T* y) const = 0;

    /// Bytes of the matrix in this format.
    virtual std::size_t bytes() const = 0;
};

/// `Format` of lib/sparse with one kernel; its units are dealt to the parts by
/// their `work_before`.
template <class T, class Format, class View>
class PartedFormat final : public Parted<T>
{
public:
    PartedFormat(Format format, RangeKernel<View, T>* kernel, int parts)
        : format_{std::move(format)}, kernel_{kernel}, parts_{balanced_parts(
                                                           format_.units(), parts,
                                                           [this](std::int32_t unit) {
                                                               return format_.work_before(unit);
                                                           })}
    {
    }

    void multiply(int part, T const* x, T* y) const override
    {
        kernel_(format_.view(), x, y, parts_[static_cast<std::size_t>(part)]);
    }

    std::size_t bytes() const override { return format_.bytes(); }

private:
    Format format_;
    RangeKernel<View, T>* kernel_;
    std::vector<Range> parts_;
};

/// Deduces the types of `PartedFormat`.
template <class T, class Format, class View>
std::unique_ptr<Parted<T>> make_parted(Format format, RangeKernel<View, T>* kernel, int parts)
{
    return std::make_unique<PartedFormat<T, Format, View>>(std::move(format), kernel, parts);
}

/// Compressed sparse rows as the other formats are: the caller's arrays, or a copy of its own.
template <class T>
class CsrRows
{
public:
    /// Works on the arrays of `a`.
    explicit CsrRows(sparse::CsrView<T> const& a) : borrowed_{a} {}

    /// Owns `a`.
    explicit CsrRows(sparse::Csr<T> a) : owned_{std::move(a)}, owns_{true} {}

    /// Rows.
    std::int32_t units() const { return view().rows; }

    /// Nonzeros of all rows before `row`, and the work of the rows.
    std::size_t work_before(std::int32_t row) const
    {
        return static_cast<std::size_t>(view().row_ptr[static_cast<std::size_t>(row)]) +
               static_cast<std::size_t>(sparse::row_work * row);
    }

    /// Bytes of the three arrays, whoever owns them.
    std::size_t bytes() const
    {
        auto const a = view();
        return (a.row_ptr.size() + a.col.size()) * sizeof(std::int32_t) +
               a.values.size() * sizeof(T);
    }

    sparse::CsrView<T> view() const { return owns_ ? owned_.view() : borrowed_; }

private:
    sparse::CsrView<T> borrowed_;
    sparse::Csr<T> owned_;
    bool owns_ = false;
};

} // namespace spmv
