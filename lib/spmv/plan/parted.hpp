#pragma once

#include "spmv/formats/parts.hpp"

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

/// A format with one kernel; its units are dealt to the parts by their `work_before`.
template <class T, MatrixInFormat Format, class View>
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
template <class T, MatrixInFormat Format, class View>
std::unique_ptr<Parted<T>> make_parted(Format format, RangeKernel<View, T>* kernel, int parts)
{
    return std::make_unique<PartedFormat<T, Format, View>>(std::move(format), kernel, parts);
}

} // namespace spmv
