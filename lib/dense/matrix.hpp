#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace dense {

/// A matrix in row-major order, in memory that somebody else owns: element (i, j) is
/// `data[i * stride + j]`.
template <class T>
struct Matrix
{
    T* data = nullptr;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t stride = 0; ///< elements from one row to the next, at least `columns`

    Matrix() = default;

    /// Rows that follow each other without a gap.
    Matrix(T* elements, std::int64_t row_count, std::int64_t column_count)
        : Matrix{elements, row_count, column_count, column_count}
    {
    }

    Matrix(T* elements, std::int64_t row_count, std::int64_t column_count, std::int64_t row_stride)
        : data{elements}, rows{row_count}, columns{column_count}, stride{row_stride}
    {
    }

    /// What may be written can be read.
    template <class U>
    requires(std::is_const_v<T>&& std::is_same_v<U const, T> && !std::is_const_v<U>)
        Matrix(Matrix<U> const& other)
        : Matrix{other.data, other.rows, other.columns, other.stride}
    {
    }

    T& operator()(std::int64_t i, std::int64_t j) const { return data[i * stride + j]; }

    /// The part that begins at (i, j).
    Matrix part(std::int64_t i, std::int64_t j, std::int64_t row_count,
                std::int64_t column_count) const
    {
        return {data + i * stride + j, row_count, column_count, stride};
    }
};

/// Floating-point operations of a product: a multiplication and an addition for each element of `a`
/// and each column of `b`.
inline double product_flops(std::int64_t rows, std::int64_t columns, std::int64_t depth)
{
    return 2.0 * static_cast<double>(rows) * static_cast<double>(columns) *
           static_cast<double>(depth);
}

/// Throws std::invalid_argument, with the sizes, unless `c = a b` can be computed.
template <class T>
void require_product(Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c)
{
    auto const size = [](auto const& m) {
        return std::to_string(m.rows) + " x " + std::to_string(m.columns);
    };
    auto const is_sound = [](auto const& m) {
        return m.rows >= 0 && m.columns >= 0 && m.stride >= m.columns &&
               (m.data != nullptr || m.rows * m.columns == 0);
    };
    if (a.columns != b.rows || c.rows != a.rows || c.columns != b.columns) {
        throw std::invalid_argument{"dense::gemm: found " + size(a) + " times " + size(b) +
                                    " into " + size(c) + ", expected sizes that agree"};
    }
    if (!is_sound(a) || !is_sound(b) || !is_sound(c)) {
        throw std::invalid_argument{"dense::gemm: found a negative size, a stride shorter than a"
                                    " row, or a null pointer"};
    }
}

} // namespace dense
