#pragma once

#include <cstddef>
#include <cstdint>

namespace simd::testing {

/// What `vector.hpp` and `quad.hpp` do with `T`, as one object compiled it: each writes its result
/// to `to`, which has as many elements as a vector has lanes.
template <class T>
struct Operations
{
    std::size_t lanes;
    std::size_t quad_lanes;
    void (*load)(T const* from, T* to);
    void (*load_as)(float const* from, T* to);
    void (*load_first)(T const* from, std::size_t count, T* to);
    void (*load_masked)(T const* from, unsigned mask, T* to);
    void (*stream)(T const* from, T* to);
    void (*broadcast)(T value, T* to);
    void (*keep)(T const* from, unsigned mask, T* to);
    void (*forget)(T const* from, T* to);
    void (*multiply_add)(T const* a, T const* b, T const* c, T* to);
    void (*gather)(T const* from, std::int32_t const* index, T* to);
    void (*gather_short)(T const* from, std::uint16_t const* index, T* to);
    T (*sum)(T const* from);

    /// Null where the object has no gather instructions.
    void (*gather_first)(T const* from, std::int32_t const* index, std::size_t count, T* to);
    void (*gather_first_short)(T const* from, std::uint16_t const* index, std::size_t count, T* to);

    // Of `quad_lanes` elements each.
    void (*load_quad)(T const* from, T* to);
    void (*gather_quad)(T const* from, std::int32_t const* index, T* to);
    void (*multiply_add_quad)(T const* a, T const* b, T const* c, T* to);
    T (*sum_quad)(T const* from);
};

/// The operations of one object.
struct Compiled
{
    Operations<float> fp32;
    Operations<double> fp64;
};

extern Compiled const baseline;      ///< what every processor of the architecture has
extern Compiled const avx2;          ///< x86-64 with AVX2 and FMA
extern Compiled const avx512;        ///< x86-64 with AVX-512F
extern Compiled const avx512_gather; ///< x86-64 with AVX-512F, VL, BW and DQ, and its gathers

} // namespace simd::testing
