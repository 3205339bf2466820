#pragma once

// The kernels of `InstructionSet`, included once by each object that is compiled for one
// instruction set. See `simd/vector.hpp` for why everything has internal linkage.

#include "ceilings/instruction_set.hpp"
#include "simd/vector.hpp"

#include <cstdint>

namespace ceilings {
namespace {

using simd::broadcast;
using simd::finish_streaming;
using simd::forget;
using simd::lanes;
using simd::load;
using simd::multiply_add;
using simd::store;
using simd::stream;
using simd::Vector;
using simd::vector_bytes;

/// Elements to handle singly before `pointer` is aligned to a vector, at most `count`.
template <class T>
std::size_t elements_before_alignment(T const* pointer, std::size_t count)
{
    auto const past = reinterpret_cast<std::uintptr_t>(pointer) % vector_bytes;
    std::size_t const head = past == 0 ? 0 : (vector_bytes - past) / sizeof(T);
    return head < count ? head : count;
}

template <class T>
T sum_of(Vector<T> const& vector)
{
    T sum = 0;
    for (std::size_t lane = 0; lane < lanes<T>; ++lane) {
        sum += vector[lane];
    }
    return sum;
}

//! [read_simd]
template <class T>
T read_simd(T const* a, T const* b, std::size_t count)
{
    constexpr std::size_t chains = 8;
    constexpr std::size_t step = chains * lanes<T>;
    Vector<T> sum[chains] = {};
    std::size_t i = 0;
    for (; i + step <= count; i += step) {
#pragma GCC unroll 8
        for (std::size_t k = 0; k < chains; ++k) {
            std::size_t const at = i + k * lanes<T>;
            sum[k] = multiply_add<T>(load(a + at), load(b + at), sum[k]);
        }
    }
    T total = 0;
    for (auto const& part : sum) {
        total += sum_of<T>(part);
    }
    for (; i < count; ++i) {
        total += a[i] * b[i];
    }
    return total;
}
//! [read_simd]

//! [read_four_streams]
template <class T>
T read_four_streams(T const* a, T const* b, std::size_t count)
{
    constexpr std::size_t chains = 4;
    constexpr std::size_t step = chains * lanes<T>;
    std::size_t const half = count / 2 / step * step;
    Vector<T> low[chains] = {};
    Vector<T> high[chains] = {};
    for (std::size_t i = 0; i < half; i += step) {
#pragma GCC unroll 4
        for (std::size_t k = 0; k < chains; ++k) {
            std::size_t const at = i + k * lanes<T>;
            low[k] = multiply_add<T>(load(a + at), load(b + at), low[k]);
            high[k] = multiply_add<T>(load(a + half + at), load(b + half + at), high[k]);
        }
    }
    T total = 0;
    for (std::size_t k = 0; k < chains; ++k) {
        total += sum_of<T>(low[k] + high[k]);
    }
    for (std::size_t i = 2 * half; i < count; ++i) {
        total += a[i] * b[i];
    }
    return total;
}
//! [read_four_streams]

//! [copy_simd]
template <class T>
void copy_simd(T const* a, T* c, std::size_t count)
{
    std::size_t const head = elements_before_alignment(c, count);
    std::size_t i = 0;
    for (; i < head; ++i) {
        c[i] = a[i];
    }
    for (; i + lanes<T> <= count; i += lanes<T>) {
        store(c + i, load(a + i));
    }
    for (; i < count; ++i) {
        c[i] = a[i];
    }
}
//! [copy_simd]

//! [copy_streaming_stores]
template <class T>
void copy_streaming_stores(T const* a, T* c, std::size_t count)
{
    std::size_t const head = elements_before_alignment(c, count);
    std::size_t i = 0;
    for (; i < head; ++i) {
        c[i] = a[i];
    }
    for (; i + lanes<T> <= count; i += lanes<T>) {
        stream(c + i, load(a + i));
    }
    finish_streaming();
    for (; i < count; ++i) {
        c[i] = a[i];
    }
}
//! [copy_streaming_stores]

//! [triad_simd]
template <class T>
void triad_simd(T* a, T const* b, T scalar, T const* c, std::size_t count)
{
    std::size_t const head = elements_before_alignment(a, count);
    std::size_t i = 0;
    for (; i < head; ++i) {
        a[i] = b[i] + scalar * c[i];
    }
    for (; i + lanes<T> <= count; i += lanes<T>) {
        store(a + i, load(b + i) + broadcast(scalar) * load(c + i));
    }
    for (; i < count; ++i) {
        a[i] = b[i] + scalar * c[i];
    }
}
//! [triad_simd]

//! [triad_streaming_stores]
template <class T>
void triad_streaming_stores(T* a, T const* b, T scalar, T const* c, std::size_t count)
{
    std::size_t const head = elements_before_alignment(a, count);
    std::size_t i = 0;
    for (; i < head; ++i) {
        a[i] = b[i] + scalar * c[i];
    }
    for (; i + lanes<T> <= count; i += lanes<T>) {
        stream(a + i, load(b + i) + broadcast(scalar) * load(c + i));
    }
    finish_streaming();
    for (; i < count; ++i) {
        a[i] = b[i] + scalar * c[i];
    }
}
//! [triad_streaming_stores]

//! [fma_chains]
template <class T, std::size_t chains>
void fma_chains(T const* start, T x, T y, std::size_t steps, T* sum)
{
    Vector<T> factor = broadcast(x);
    Vector<T> const other = broadcast(y);
    for (std::size_t block = 0; block < fma_elements<T>; block += chains * lanes<T>) {
        Vector<T> chain[chains];
        for (std::size_t k = 0; k < chains; ++k) {
            chain[k] = load(start + block + k * lanes<T>);
        }
        for (std::size_t step = 0; step < steps; ++step) {
#pragma GCC unroll 12
            for (std::size_t k = 0; k < chains; ++k) {
                forget<T>(factor);
                chain[k] = multiply_add<T>(factor, other, chain[k]);
            }
        }
        for (std::size_t k = 0; k < chains; ++k) {
            store(sum + block + k * lanes<T>, chain[k]);
        }
    }
}
//! [fma_chains]

template <class T>
constexpr InstructionSet<T> kernels(char const* name)
{
    return {name,
            read_simd<T>,
            read_four_streams<T>,
            copy_simd<T>,
            copy_streaming_stores<T>,
            triad_simd<T>,
            triad_streaming_stores<T>,
            fma_chains<T, 12>,
            fma_chains<T, 1>};
}

} // namespace
} // namespace ceilings
