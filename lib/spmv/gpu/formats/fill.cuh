#pragma once

namespace spmv::gpu {

/// What formats store where they fill a row or a block up, as `sparse::fill` on the host: -0.
template <class T>
__device__ constexpr T fill()
{
    return T{-0.0};
}

/// An entry of the matrix as they store it, as `sparse::entry` on the host: +0 for -0.
template <class T>
__device__ T entry(T value)
{
    return value + T{0};
}

__device__ inline bool is_fill(float stored)
{
    return __float_as_uint(stored) == 0x80000000u;
}

__device__ inline bool is_fill(double stored)
{
    return __double_as_longlong(stored) == static_cast<long long>(0x8000000000000000u);
}

/// An element of such a format, of `x` or of `y`, as its kernel computes with them: what fills up
/// does not look at the element of `x` that it is multiplied with, so that one which is infinite or
/// NaN comes into no row that does not name it. A comparison and a selection for each product take
/// no time beside their loads, where a second kernel that looks through `y` would take
/// microseconds.
template <class T>
struct Filled
{
    T value;

    Filled() = default;
    __device__ Filled(T of) : value{of} {}

    __device__ Filled& operator+=(Filled other)
    {
        value += other.value;
        return *this;
    }

    /// The product of a stored element with one of `x`.
    friend __device__ Filled operator*(Filled stored, Filled x)
    {
        return stored.value * (is_fill(stored.value) ? T{0} : x.value);
    }

    friend __device__ Filled __ldg(Filled const* from) { return ::__ldg(&from->value); }
    friend __device__ Filled __ldcs(Filled const* from) { return ::__ldcs(&from->value); }
};

/// An array as kernels of such a format see it.
template <class T>
Filled<T> const* filled(T const* elements)
{
    return reinterpret_cast<Filled<T> const*>(elements);
}

template <class T>
Filled<T>* filled(T* elements)
{
    return reinterpret_cast<Filled<T>*>(elements);
}

} // namespace spmv::gpu
