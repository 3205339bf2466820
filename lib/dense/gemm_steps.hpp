#pragma once

#include "dense/matrix.hpp"

#include <algorithm>

/// \file
/// `c = a b` on the host, from three loops to tiles: the steps before `dense::gemm`. Sizes agree.

namespace dense {

//! [triple_loop]
/// The article's loops, with its sum in double precision.
template <class T>
void triple_loop(Matrix<T const> a, Matrix<T const> b, Matrix<T> c)
{
    for (std::int64_t i = 0; i < c.rows; ++i) {
        for (std::int64_t j = 0; j < c.columns; ++j) {
            double sum = 0;
            for (std::int64_t k = 0; k < a.columns; ++k) {
                sum += static_cast<double>(a(i, k)) * static_cast<double>(b(k, j));
            }
            c(i, j) = static_cast<T>(sum);
        }
    }
}
//! [triple_loop]

//! [loop_order]
/// The same loops in another order: the innermost one walks along rows of `b` and `c`.
template <class T>
void loop_order(Matrix<T const> a, Matrix<T const> b, Matrix<T> c)
{
    for (std::int64_t i = 0; i < c.rows; ++i) {
        std::fill_n(&c(i, 0), c.columns, T{0});
        for (std::int64_t k = 0; k < a.columns; ++k) {
            for (std::int64_t j = 0; j < c.columns; ++j) {
                c(i, j) += a(i, k) * b(k, j);
            }
        }
    }
}
//! [loop_order]

//! [tiles]
/// Tiles of 64 rows of `b` stay in the cache for all rows of `a`.
template <class T>
void tiles(Matrix<T const> a, Matrix<T const> b, Matrix<T> c)
{
    constexpr std::int64_t depth = 64;
    constexpr std::int64_t width = 512;
    for (std::int64_t i = 0; i < c.rows; ++i) {
        std::fill_n(&c(i, 0), c.columns, T{0});
    }
    for (std::int64_t k0 = 0; k0 < a.columns; k0 += depth) {
        for (std::int64_t j0 = 0; j0 < c.columns; j0 += width) {
            auto const k1 = std::min(k0 + depth, a.columns);
            auto const j1 = std::min(j0 + width, c.columns);
            for (std::int64_t i = 0; i < c.rows; ++i) {
                for (std::int64_t k = k0; k < k1; ++k) {
                    for (std::int64_t j = j0; j < j1; ++j) {
                        c(i, j) += a(i, k) * b(k, j);
                    }
                }
            }
        }
    }
}
//! [tiles]

} // namespace dense
