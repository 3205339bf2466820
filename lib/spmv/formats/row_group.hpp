#pragma once

#include "sparse/csr.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace sparse {

/// Groups of `group_rows` rows in a matrix; the last may have fewer.
inline std::int32_t group_count(PatternView<> const& a, std::int32_t group_rows)
{
    return a.rows / group_rows + (a.rows % group_rows != 0 ? 1 : 0);
}

/// Nonzeros of the groups before `group`, 0 <= `group` <= `group_count`.
inline std::int32_t nonzeros_before(PatternView<> const& a, std::int32_t group_rows,
                                    std::int32_t group)
{
    return a.row_ptr[std::min<std::int64_t>(a.rows, std::int64_t{group} * group_rows)];
}

/// Up to eight consecutive rows that are walked together from left to right, as formats do that
/// store tiles of several rows.
class RowGroup
{
public:
    static constexpr std::int32_t max_rows = 8; ///< of a group

    /// Rows `first` to `first + rows - 1`, or fewer at the matrix's end.
    RowGroup(PatternView<> const& a, std::int32_t first, std::int32_t rows)
        : col_{a.col.data()}, rows_{std::min(rows, a.rows - first)}
    {
        for (std::int32_t k = 0; k < rows_; ++k) {
            next_[k] = a.row_ptr[first + k];
            end_[k] = a.row_ptr[first + k + 1];
        }
    }

    /// Rows of the group that the matrix has.
    std::int32_t rows() const { return rows_; }

    /// The leftmost column that was not taken yet, or -1 if there is none.
    std::int32_t next_column() const
    {
        std::int32_t column = -1;
        for (std::int32_t k = 0; k < rows_; ++k) {
            if (next_[k] < end_[k] && (column < 0 || col_[next_[k]] < column)) {
                column = col_[next_[k]];
            }
        }
        return column;
    }

    /// Takes the entries of row `k` of the group left of column `before` and calls
    /// `visit(position)` for each.
    template <class Visit>
    void take(std::int32_t k, std::int64_t before, Visit const& visit)
    {
        for (; next_[k] < end_[k] && col_[next_[k]] < before; ++next_[k]) {
            visit(next_[k]);
        }
    }

    /// As above for all rows, which are not told apart.
    void take(std::int64_t before)
    {
        for (std::int32_t k = 0; k < rows_; ++k) {
            take(k, before, [](std::int32_t) {});
        }
    }

private:
    std::int32_t const* col_;
    std::int32_t rows_;
    std::array<std::int32_t, max_rows> next_ = {};
    std::array<std::int32_t, max_rows> end_ = {};
};

} // namespace sparse
