#pragma once

#include "base/bytes.hpp"

#include <cstddef>
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

    /// Which elements there are is the caller's to know, here and in `part`: nothing is checked.
    T& operator()(std::int64_t i, std::int64_t j) const { return data[i * stride + j]; }

    /// The part that begins at (i, j).
    Matrix part(std::int64_t i, std::int64_t j, std::int64_t row_count,
                std::int64_t column_count) const
    {
        return {data + i * stride + j, row_count, column_count, stride};
    }
};

/// A matrix that is only read. Such a parameter takes no part in finding out `T`, so that the
/// caller may give one that can be written, too.
template <class T>
using Operand = std::type_identity_t<Matrix<T const>>;

/// Floating-point operations of a product: a multiplication and an addition for each element of `a`
/// and each column of `b`.
inline double product_flops(std::int64_t rows, std::int64_t columns, std::int64_t depth)
{
    return 2.0 * static_cast<double>(rows) * static_cast<double>(columns) *
           static_cast<double>(depth);
}

/// "2 x 3"
template <class T>
std::string size_text(Matrix<T> const& m)
{
    return std::to_string(m.rows) + " x " + std::to_string(m.columns);
}

/// Bytes from the first element to behind the last one, of a matrix that `require_matrix` passes.
template <class T>
std::size_t extent_bytes(Matrix<T> const& m)
{
    bool const is_empty = m.rows == 0 || m.columns == 0;
    return is_empty ? 0 : static_cast<std::size_t>((m.rows - 1) * m.stride + m.columns) * sizeof(T);
}

/// Throws std::invalid_argument, in the name of `who`, unless `m` can be a matrix in memory: sizes
/// that are not negative, rows that do not overlap, no more bytes than memory can have, a pointer
/// to elements where there are any.
template <class T>
void require_matrix(char const* who, Matrix<T> const& m)
{
    auto const refuse = [&](std::string const& what, char const* expected) {
        throw std::invalid_argument{std::string{who} + ": found a matrix of " + size_text(m) +
                                    what + ", expected " + expected};
    };
    auto const stride = [&] { return " with " + std::to_string(m.stride) + " from row to row"; };
    constexpr auto most = static_cast<std::int64_t>(base::most_bytes / sizeof(T));
    if (m.rows < 0 || m.columns < 0) {
        refuse("", "no negative size");
    }
    if (m.stride < m.columns) {
        refuse(stride(), "no fewer than columns");
    }
    if (m.rows == 0 || m.columns == 0) {
        return;
    }
    if (m.columns > most || m.rows - 1 > (most - m.columns) / m.stride) {
        refuse(stride(), "no more than memory can have");
    }
    if (m.data == nullptr) {
        refuse(" at a null pointer", "memory");
    }
    if (reinterpret_cast<std::uintptr_t>(m.data) % alignof(T) != 0) {
        refuse(" between two addresses of elements", "one of them");
    }
}

/// Whether some byte belongs to elements of both; gaps between rows are nobody's, so that parts of
/// one matrix that lie side by side do not overlap. Goes through the rows, which lie in order, of
/// matrices that lie within each other, and looks at the ends alone of others.
template <class T, class U>
bool overlap(Matrix<T> const& a, Matrix<U> const& b)
{
    if (!base::overlap(a.data, extent_bytes(a), b.data, extent_bytes(b))) {
        return false;
    }
    auto const row = [](auto const& m, std::int64_t i) {
        return reinterpret_cast<std::uintptr_t>(m.data + i * m.stride);
    };
    auto const a_bytes = static_cast<std::uintptr_t>(a.columns) * sizeof(T);
    auto const b_bytes = static_cast<std::uintptr_t>(b.columns) * sizeof(U);
    for (std::int64_t i = 0, j = 0; i < a.rows && j < b.rows;) {
        if (row(a, i) + a_bytes <= row(b, j)) {
            ++i;
        } else if (row(b, j) + b_bytes <= row(a, i)) {
            ++j;
        } else {
            return true;
        }
    }
    return false;
}

/// Which operands of a product are transposed first.
struct Transposes
{
    bool a = false;
    bool b = false;
};

/// Throws std::invalid_argument, in the name of `who`, unless `c = a b` can be computed: matrices
/// that can be, sizes that agree, and no element of `c` in memory of `a` or `b`, which may be the
/// same or overlap.
template <class T>
void require_product(char const* who, Matrix<T const> const& a, Matrix<T const> const& b,
                     Matrix<T> const& c, Transposes transposes = {})
{
    auto const text = [](Matrix<T const> const& m, bool transposed) {
        return size_text(m) + (transposed ? " transposed" : "");
    };
    auto const refuse = [&](std::string const& why) {
        throw std::invalid_argument{std::string{who} + ": found " + text(a, transposes.a) +
                                    " times " + text(b, transposes.b) + " into " + size_text(c) +
                                    why};
    };
    require_matrix(who, a);
    require_matrix(who, b);
    require_matrix(who, c);
    auto const depth = transposes.a ? a.rows : a.columns;
    if (depth != (transposes.b ? b.columns : b.rows) ||
        c.rows != (transposes.a ? a.columns : a.rows) ||
        c.columns != (transposes.b ? b.rows : b.columns)) {
        refuse(", expected sizes that agree");
    }
    if (overlap(a, c) || overlap(b, c)) {
        refuse(" in memory of an operand, expected a result in memory of its own");
    }
}

} // namespace dense
