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

/// An element of such a format, of `x` or of `y`, as its kernel computes with them: a product with
/// what fills up is not added, so that an `x` which is infinite or NaN comes into no row that does
/// not name it. A product stays as two factors until it is added.
///
/// On an H200, beside kernels that do not look: 0.5 % more time from the cache and 0.1 % from
/// memory in the geometric mean of 32 cases each (SELL and blocks, two precisions). Of the cases in
/// cache a third loses more than 2 %: 3x3 blocks of floats take 1.11 times as long (1.05 from
/// memory), and 6x6 blocks 0.57. Other ways lose more: to sum rows that are not finite once more at
/// the end of the kernel takes 2 % more in either mean as a call, 8 and 2 % in line.
template <class T>
struct Filled
{
    /// A product that was not made yet.
    struct Product
    {
        T stored;
        T factor;
    };

    T value;

    Filled() = default;
    __device__ Filled(T of) : value{of} {}

    __device__ Filled& operator+=(Filled other)
    {
        value += other.value;
        return *this;
    }

    __device__ Filled& operator+=(Product product)
    {
        if (!is_fill(product.stored)) {
            value += product.stored * product.factor;
        }
        return *this;
    }

    /// The product of a stored element with one of `x`.
    friend __device__ Product operator*(Filled stored, Filled x) { return {stored.value, x.value}; }

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
