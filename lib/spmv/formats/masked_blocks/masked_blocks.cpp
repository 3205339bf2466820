#include "spmv/formats/masked_blocks/masked_blocks.hpp"

#include "sparse/check.hpp"
#include "spmv/formats/row_group.hpp"
#include "spmv/formats/stretches.hpp"

#include <bit>
#include <string>

namespace sparse {

namespace {

void check(std::int32_t group_rows)
{
    if (group_rows < 1 || group_rows == 5 || group_rows > 6) {
        throw std::length_error{"masked blocks have 1, 2, 3, 4 or 6 rows, not " +
                                std::to_string(group_rows)};
    }
}

/// Calls `visit(group, column, end)` for each window of a group: its entries are those left of
/// `end` that were not yet taken from the group. `visit` has to take them.
template <class T, class Visit>
void visit_windows(PatternView<> const& a, std::int32_t group_rows, std::int32_t unit,
                   Visit const& visit)
{
    RowGroup group{a, unit * group_rows, group_rows};
    for (auto next = group.next_column(); next >= 0; next = group.next_column()) {
        visit(group, next, std::int64_t{next} + window_columns<T>);
    }
}

template <class T>
std::int32_t count_windows(PatternView<> const& a, std::int32_t group_rows, std::int32_t unit)
{
    std::int32_t count = 0;
    visit_windows<T>(a, group_rows, unit, [&](RowGroup& group, std::int32_t, std::int64_t end) {
        group.take(end);
        ++count;
    });
    return count;
}

/// Whether the rows of a window all hold the same run from its first column on.
template <class T>
bool one_run(std::span<WindowMask<T> const> mask)
{
    auto const first = mask.front();
    return (first & (first + 1)) == 0 &&
           std::ranges::all_of(mask, [&](auto other) { return other == first; });
}

/// Whether at least every other window does, of those of a sample of groups.
template <class T>
bool mostly_runs(MaskedBlocks<T> const& blocks)
{
    auto const rows = static_cast<std::size_t>(blocks.group_rows);
    std::int64_t windows = 0;
    std::int64_t runs = 0;
    visit_sample(blocks.units(), [&](std::int32_t unit) {
        auto const end = static_cast<std::size_t>(blocks.first_window[unit + 1]);
        for (auto w = static_cast<std::size_t>(blocks.first_window[unit]); w < end; ++w) {
            runs += one_run<T>(std::span{blocks.mask}.subspan(w * rows, rows));
            ++windows;
        }
    });
    return 2 * runs >= windows;
}

} // namespace

template <class T>
std::int32_t MaskedBlocksView<T>::position(std::int32_t group) const
{
    return values_before(checkpoint, first_window[group], [&](std::int32_t window) {
        std::int32_t count = 0;
        for (auto const row :
             mask.subspan(static_cast<std::size_t>(window) * group_rows, group_rows)) {
            count += std::popcount(row);
        }
        return count;
    });
}

template <class T>
std::size_t MaskedBlocks<T>::bytes() const
{
    return bytes_of(first_window, column, mask, values, checkpoint);
}

template <class T>
MaskedBlocks<T> to_masked_blocks(CsrView<T> const& a, std::int32_t group_rows)
{
    require_sorted_rows(a);
    check(group_rows);
    MaskedBlocks<T> blocks;
    blocks.rows = a.rows;
    blocks.columns = a.columns;
    blocks.group_rows = group_rows;
    auto const groups = group_count(a, group_rows);
    blocks.first_window =
        offsets(groups, [&](std::int32_t unit) { return count_windows<T>(a, group_rows, unit); });
    blocks.column.resize(static_cast<std::size_t>(blocks.first_window[groups]));
    blocks.mask.assign(blocks.column.size() * static_cast<std::size_t>(group_rows), 0);
    blocks.values.resize(a.nonzeros());
    blocks.checkpoint = checkpoints(blocks.column.size(), a.nonzeros());
    parallel_units(groups, [&](std::int32_t unit) {
        auto window = blocks.first_window[unit];
        auto* value = blocks.values.data() + nonzeros_before(a, group_rows, unit);
        visit_windows<T>(
            a, group_rows, unit, [&](RowGroup& group, std::int32_t column, std::int64_t end) {
                blocks.column[window] = column;
                note_checkpoint(blocks.checkpoint, window, value - blocks.values.data());
                for (std::int32_t k = 0; k < group.rows(); ++k) {
                    auto& mask = blocks.mask[std::ptrdiff_t{window} * group_rows + k];
                    group.take(k, end, [&](std::int32_t position) {
                        mask |= static_cast<WindowMask<T>>(1 << (a.col[position] - column));
                        *value++ = a.values[position];
                    });
                }
                ++window;
            });
    });
    blocks.in_runs = mostly_runs(blocks);
    return blocks;
}

template <class T>
std::int64_t window_count(PatternView<> const& a, std::int32_t group_rows)
{
    std::int64_t count = 0;
    for (std::int32_t unit = 0; unit < group_count(a, group_rows); ++unit) {
        count += count_windows<T>(a, group_rows, unit);
    }
    return count;
}

template std::int64_t window_count<float>(PatternView<> const&, std::int32_t);
template std::int64_t window_count<double>(PatternView<> const&, std::int32_t);
template struct MaskedBlocksView<float>;
template struct MaskedBlocksView<double>;
template struct MaskedBlocks<float>;
template struct MaskedBlocks<double>;
template MaskedBlocks<float> to_masked_blocks(CsrView<float> const&, std::int32_t);
template MaskedBlocks<double> to_masked_blocks(CsrView<double> const&, std::int32_t);

} // namespace sparse
