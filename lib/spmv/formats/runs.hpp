#pragma once

#include "sparse/csr.hpp"

#include <algorithm>
#include <cstdint>

namespace sparse {

/// Calls `visit(position, length)` for each run of consecutive columns in a row, from left to
/// right; `position` is that of the run's first entry. Runs longer than `longest` come in pieces.
template <class Visit>
void visit_runs(PatternView<> const& a, std::int32_t row, std::int32_t longest, Visit const& visit)
{
    std::int32_t const* col = a.col.data();
    std::int32_t const end = a.row_ptr[row + 1];
    for (std::int32_t p = a.row_ptr[row]; p < end;) {
        std::int32_t length = 1;
        while (length < longest && p + length < end && col[p + length] == col[p] + length) {
            ++length;
        }
        visit(p, length);
        p += length;
    }
}

/// Runs of a row, or the pieces they are cut into.
inline std::int32_t count_runs(PatternView<> const& a, std::int32_t row, std::int32_t longest)
{
    std::int32_t count = 0;
    visit_runs(a, row, longest, [&](std::int32_t, std::int32_t) { ++count; });
    return count;
}

} // namespace sparse
