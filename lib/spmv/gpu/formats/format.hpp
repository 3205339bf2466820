#pragma once

#include "spmv/gpu/formats/sell/sell.hpp"
#include "spmv/gpu/plan.hpp"

#include <tuple>

/// \file
/// What a format or a kernel is to those who list it. Its folder has a header `spmv.hpp` with a
/// structure for each of its names and `All`, a tuple of them; `meson.build` here has the list of
/// all folders.
///
/// Such a structure has a `name`, is `OnCsr` or `Converted`, and then tells the `bytes` of a matrix
/// of this `Structure` before it is converted.

namespace spmv::gpu {

/// What bytes of formats follow from.
template <class T>
struct Structure
{
    static constexpr double value_bytes = sizeof(T);
    CsrView<T> a;
    cudaStream_t stream;
    SellOutlook sell = sell_outlook(a, stream);
};

/// Bytes of a format that does not suit a matrix.
inline constexpr double never = -1;

/// A format with arrays of its own: `Class<T>{a, options..., stream}` converts, throws
/// `std::length_error` if it cannot hold the matrix, has `bytes()`, and multiplies:
/// `(x, y, stream)`.
template <template <class> class Class, auto... options>
struct Converted
{
    static constexpr bool borrows = false;

    template <class T>
    static auto build(CsrView<T> const& a, cudaStream_t stream)
    {
        return Class<T>{a, options..., stream};
    }
};

/// A kernel that reads the matrix as it is, with what it prepared for it: `(a, x, y, stream)`.
template <template <class> class Class, auto... options>
struct OnCsr : Converted<Class, options...>
{
    static constexpr bool borrows = true;

    static double bytes(auto const& s) { return static_cast<double>(s.a.bytes()); }
};

} // namespace spmv::gpu
