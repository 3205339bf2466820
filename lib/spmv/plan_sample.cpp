#include "spmv/plan_sample.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace spmv {

namespace {

/// A whole number of the chunks, windows, groups and blocks of every format.
constexpr std::int32_t least_block = 1536;
constexpr std::int32_t most_blocks = 16;

template <class T>
void append_row(sparse::Csr<T>& to, sparse::CsrView<T> const& from, std::int32_t i,
                std::int32_t longest)
{
    auto const begin = from.row_ptr[static_cast<std::size_t>(i)];
    auto const end = from.row_ptr[static_cast<std::size_t>(i) + 1];
    if (end - begin <= longest) {
        to.col.insert(to.col.end(), from.col.begin() + begin, from.col.begin() + end);
        to.values.insert(to.values.end(), from.values.begin() + begin, from.values.begin() + end);
    }
    to.row_ptr.push_back(static_cast<std::int32_t>(to.col.size()));
    ++to.rows;
}

/// Distinct cache lines of `x` among `columns`.
template <class T>
std::size_t count_lines(std::span<std::int32_t const> columns)
{
    constexpr std::int32_t line = 64 / sizeof(T);
    std::vector<std::int32_t> lines(columns.size());
    std::ranges::transform(columns, lines.begin(), [](std::int32_t j) { return j / line; });
    std::ranges::sort(lines);
    return static_cast<std::size_t>(std::ranges::unique(lines).begin() - lines.begin());
}

} // namespace

template <class T>
Sample<T> take_sample(sparse::CsrView<T> const& a, std::int32_t rows, std::int32_t longest)
{
    Sample<T> sample;
    sample.a.columns = a.columns;
    bool const all = a.rows <= 2 * rows;
    std::int32_t const blocks = all ? 1 : std::min(most_blocks, rows / least_block);
    sample.block_rows = all ? a.rows : rows / blocks / least_block * least_block;
    std::size_t lines = 0;
    for (std::int32_t k = 0; k < blocks; ++k) {
        auto const spread = std::int64_t{a.rows - sample.block_rows} * k / std::max(1, blocks - 1);
        auto const first = static_cast<std::int32_t>(spread / least_block * least_block);
        auto const before = sample.a.col.size();
        for (std::int32_t i = first; i < first + sample.block_rows; ++i) {
            append_row(sample.a, a, i, longest);
        }
        lines += count_lines<T>(std::span{sample.a.col}.subspan(before));
    }
    auto const taken = static_cast<double>(std::max<std::size_t>(1, sample.a.nonzeros()));
    sample.scale = static_cast<double>(a.nonzeros()) / taken;
    sample.x_lines = static_cast<double>(lines) / taken;
    return sample;
}

template Sample<float> take_sample(sparse::CsrView<float> const&, std::int32_t, std::int32_t);
template Sample<double> take_sample(sparse::CsrView<double> const&, std::int32_t, std::int32_t);

} // namespace spmv
