#pragma once

#include <cstddef>

namespace ceilings {

// The kernels of STREAM and BabelStream by their published definitions: one OpenMP worksharing loop
// each, left to the compiler at -O3 and the CPU's own instruction set (Meson option `native`).
// Arrays of `count` elements do not overlap.

/// STREAM copy: `c[i] = a[i]`; counts `2 * sizeof(*a)` bytes an element.
void stream_copy(double const* a, double* c, std::size_t count, int threads);

/// STREAM triad: `a[i] = b[i] + scalar * c[i]`; counts `3 * sizeof(*a)` bytes an element.
void stream_triad(double* a, double const* b, double scalar, double const* c, std::size_t count,
                  int threads);

/// BabelStream dot: the sum of `a[i] * b[i]`; counts `2 * sizeof(*a)` bytes an element.
float babelstream_dot(float const* a, float const* b, std::size_t count, int threads);
double babelstream_dot(double const* a, double const* b, std::size_t count, int threads);

} // namespace ceilings
