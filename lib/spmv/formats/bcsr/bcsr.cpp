#include "spmv/formats/bcsr/bcsr.hpp"

#include "sparse/check.hpp"
#include "spmv/formats/fill.hpp"
#include "spmv/formats/row_group.hpp"
#include "spmv/formats/stretches.hpp"

#include <string>

namespace sparse {

namespace {

void check(PatternView<> const& a, BlockShape shape)
{
    auto const name = std::to_string(shape.rows) + " x " + std::to_string(shape.columns);
    auto const side_fits = [](std::int32_t side) { return 1 <= side && side <= 8; };
    if (!side_fits(shape.rows) || !side_fits(shape.columns)) {
        throw std::length_error{"blocks have sides of 1 to 8, not " + name};
    }
    if (a.nonzeros() > 0 && a.columns < shape.columns) {
        throw std::length_error{"blocks of " + name + " do not fit into " +
                                std::to_string(a.columns) + " columns"};
    }
}

/// Calls `visit(group, column, end)` for each block of a block row: its entries are those left of
/// `end` that were not yet taken from the group. `visit` has to take them.
template <class Visit>
void visit_blocks(PatternView<> const& a, BlockShape shape, std::int32_t block_row,
                  Visit const& visit)
{
    RowGroup group{a, block_row * shape.rows, shape.rows};
    for (auto next = group.next_column(); next >= 0; next = group.next_column()) {
        std::int32_t const aligned = next / shape.columns * shape.columns;
        auto const end = std::int64_t{aligned} + shape.columns;
        visit(group, std::min(aligned, a.columns - shape.columns), end);
    }
}

std::int32_t count_blocks(PatternView<> const& a, BlockShape shape, std::int32_t block_row)
{
    std::int32_t count = 0;
    visit_blocks(a, shape, block_row, [&](RowGroup& group, std::int32_t, std::int64_t end) {
        group.take(end);
        ++count;
    });
    return count;
}

template <class T>
void fill_block(CsrView<T> const& a, BlockShape shape, RowGroup& group, std::int32_t column,
                std::int64_t end, T* block)
{
    std::fill_n(block, shape.size(), fill<T>);
    for (std::int32_t k = 0; k < group.rows(); ++k) {
        group.take(k, end, [&](std::int32_t position) {
            block[(a.col[position] - column) * shape.rows + k] = entry(a.values[position]);
        });
    }
}

} // namespace

template <class T>
std::size_t Bcsr<T>::bytes() const
{
    return bytes_of(first_block, column, values);
}

template <class T>
Bcsr<T> to_bcsr(CsrView<T> const& a, BlockShape shape)
{
    require_sorted_rows(a);
    check(a, shape);
    Bcsr<T> blocks;
    blocks.rows = a.rows;
    blocks.columns = a.columns;
    blocks.shape = shape;
    blocks.entries = a.nonzeros();
    auto const units = group_count(a, shape.rows);
    blocks.first_block =
        offsets(units, [&](std::int32_t unit) { return count_blocks(a, shape, unit); });
    auto const count = static_cast<std::size_t>(blocks.first_block[units]);
    auto const size = static_cast<std::size_t>(shape.size());
    blocks.column.resize(count);
    blocks.values.resize(count * size + Bcsr<T>::padding);
    std::fill_n(blocks.values.end() - Bcsr<T>::padding, Bcsr<T>::padding, T{0});
    parallel_units(units, [&](std::int32_t unit) {
        auto block = static_cast<std::size_t>(blocks.first_block[unit]);
        visit_blocks(a, shape, unit, [&](RowGroup& group, std::int32_t column, std::int64_t end) {
            blocks.column[block] = column;
            fill_block(a, shape, group, column, end, &blocks.values[block * size]);
            ++block;
        });
    });
    return blocks;
}

double block_fill(PatternView<> const& a, BlockShape shape)
{
    check(a, shape);
    std::int64_t blocks = 0;
    std::int64_t nonzeros = 0;
    visit_sample(group_count(a, shape.rows), [&](std::int32_t unit) {
        blocks += count_blocks(a, shape, unit);
        nonzeros += nonzeros_before(a, shape.rows, unit + 1) - nonzeros_before(a, shape.rows, unit);
    });
    return nonzeros == 0
               ? 1.0
               : static_cast<double>(blocks * shape.size()) / static_cast<double>(nonzeros);
}

BlockShape best_block_shape(PatternView<> const& a, std::size_t value_bytes,
                            std::span<BlockShape const> shapes)
{
    constexpr double index_bytes = sizeof(std::int32_t);
    constexpr double hopeless = 2; // of 2 x 2: dense blocks of any shape would fill more of them
    BlockShape best;
    auto fewest = static_cast<double>(value_bytes) + index_bytes;
    for (auto const shape : shapes) {
        if (shape.columns > a.columns) {
            continue;
        }
        double const fill = block_fill(a, shape);
        double const bytes = fill * (static_cast<double>(value_bytes) + index_bytes / shape.size());
        if (shape.size() == 4 && fill > hopeless) {
            return best;
        }
        if (bytes < fewest) {
            best = shape;
            fewest = bytes;
        }
    }
    return best;
}

template struct Bcsr<float>;
template struct Bcsr<double>;
template Bcsr<float> to_bcsr(CsrView<float> const&, BlockShape);
template Bcsr<double> to_bcsr(CsrView<double> const&, BlockShape);

} // namespace sparse
