#include "spmv/formats/sell/sell.hpp"

#include "sparse/check.hpp"
#include "sparse/parallel.hpp"
#include "spmv/formats/sell/sell_analysis.hpp"
#include "spmv/formats/sell/sell_patterns.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace sparse {

namespace {

using detail::Analysis;
using detail::ChunkSteps;
using detail::PatternTable;
using detail::scattering;

/// Rows of a matrix that are analysed together; patterns are shared within, then merged.
constexpr std::int32_t block_rows = 16 * sell_window;

/// What one block of rows becomes.
struct Block
{
    PatternTable table;
    std::vector<SellChunk> chunks;       ///< patterns of `table`
    std::vector<std::uint8_t> order;     ///< of its rows; empty if none is sorted
    std::vector<std::uint32_t> patterns; ///< number in the matrix of each pattern of `table`
    SellPosition size{};                 ///< of values and columns
};

/// Analyses the windows of one block.
template <class T>
class BlockBuilder
{
public:
    /// `cuts`: rows, in order, that are not sorted among those before them.
    BlockBuilder(CsrView<T> const& a, SellOptions const& options,
                 std::span<std::int32_t const> cuts, Block& block)
        : a_{a}, options_{options}, cuts_{cuts}, analysis_{a, options}, block_{block}
    {
    }

    void add_rows(std::int32_t begin, std::int32_t end)
    {
        while (begin < end) {
            std::int32_t const window = begin / sell_window * sell_window;
            auto const cut = std::ranges::upper_bound(cuts_, begin);
            std::int32_t const next =
                std::min({window + sell_window, end, cut == cuts_.end() ? end : *cut});
            add_window(window, begin, next);
            begin = next;
        }
        if (!any_sorted_) {
            block_.order.clear();
        }
    }

private:
    static constexpr std::int32_t height = sell_height<T>;

    /// Adds the rows `begin <= i < end` of a window, sorted or not.
    void add_window(std::int32_t window, std::int32_t begin, std::int32_t end)
    {
        auto const chunks = static_cast<std::size_t>((end - begin + height - 1) / height);
        natural_.resize(chunks);
        for (std::size_t k = 0; k < chunks; ++k) {
            analysis_.natural(begin + static_cast<std::int32_t>(k) * height, natural_[k]);
        }
        if (options_.sorted && ragged(begin, end)) {
            auto const order = analysis_.sorted_rows(window, begin, end);
            permute(window, order);
            double const rows = end - begin;
            if (cost(sorted_) + rows * (1 + scattering) < cost(natural_)) {
                add(sorted_, SellChunk::sorted_bit);
                block_.order.insert(block_.order.end(), order.begin(), order.end());
                any_sorted_ = true;
                return;
            }
        }
        add(natural_, 0);
        for (std::int32_t i = begin; i < end; ++i) {
            block_.order.push_back(static_cast<std::uint8_t>(i - window));
        }
    }

    /// Whether sorting could save padding at all.
    bool ragged(std::int32_t begin, std::int32_t end) const
    {
        std::int32_t const length = a_.row_ptr[begin + 1] - a_.row_ptr[begin];
        for (std::int32_t i = begin + 1; i < end; ++i) {
            if (a_.row_ptr[i + 1] - a_.row_ptr[i] != length) {
                return true;
            }
        }
        return false;
    }

    void permute(std::int32_t window, std::span<std::uint8_t const> order)
    {
        sorted_.resize(natural_.size());
        for (std::size_t k = 0; k < sorted_.size(); ++k) {
            auto const lanes = std::min<std::size_t>(height, order.size() - k * height);
            analysis_.permuted(window, order.subspan(k * height, lanes), sorted_[k]);
        }
    }

    /// What reading the chunks of a window costs; a description counts where it is new.
    double cost(std::vector<ChunkSteps> const& chunks) const
    {
        double total = 0;
        for (std::size_t k = 0; k < chunks.size(); ++k) {
            bool const shared =
                (k > 0 && alike(chunks[k - 1], chunks[k])) || block_.table.contains(chunks[k]);
            total += analysis_.cost(chunks[k]);
            total += shared ? 0 : static_cast<double>(chunks[k].bytes());
        }
        return total;
    }

    void add(std::vector<ChunkSteps> const& chunks, std::uint32_t flag)
    {
        for (ChunkSteps const& steps : chunks) {
            auto const columns = (steps.full + steps.partial) * std::size_t{height};
            block_.chunks.push_back({block_.table.number_of(steps) | flag, steps.base});
            block_.size.values += columns + steps.offsets.size() * height;
            (steps.base < 0 ? block_.size.wide : block_.size.narrow) += columns;
        }
    }

    CsrView<T> const& a_;
    SellOptions const& options_;
    std::span<std::int32_t const> cuts_;
    Analysis<T> analysis_;
    Block& block_;
    std::vector<ChunkSteps> natural_; ///< of a window
    std::vector<ChunkSteps> sorted_;  ///< of the same window
    bool any_sorted_ = false;
};

/// Writes values and columns of one chunk.
template <class Stored, class T>
class ChunkWriter
{
public:
    static constexpr std::int32_t height = sell_height<T>;

    ChunkWriter(CsrView<T> const& a, Sell<T, Stored>& to, SellPosition at) : a_{a}, to_{to}, at_{at}
    {
    }

    /// Where the next chunk begins.
    SellPosition const& position() const { return at_; }

    /// Writes the chunk `chunk`; chunks come in order.
    void write(std::int32_t chunk)
    {
        std::int32_t const base = to_.chunks[chunk].base;
        SellPattern const& pattern = to_.patterns[to_.chunks[chunk].pattern()];
        auto const count = pattern.steps() * std::size_t{height};
        auto const columns = (pattern.full + pattern.partial) * std::size_t{height};
        std::fill_n(to_.values.begin() + at_.values, count, Stored{0});
        if (base < 0) {
            std::fill_n(to_.wide.begin() + at_.wide, columns, 0);
        } else {
            std::fill_n(to_.narrow.begin() + at_.narrow, columns, std::uint16_t{0});
        }
        std::int32_t const first = chunk * height;
        for (std::int32_t lane = 0; lane < std::min(height, a_.rows - first); ++lane) {
            std::int32_t i = first + lane;
            if (to_.chunks[chunk].sorted()) {
                i = i / sell_window * sell_window + to_.order[i];
            }
            write_lane(lane, i, first, pattern, base);
        }
        at_.values += count;
        (base < 0 ? at_.wide : at_.narrow) += columns;
    }

private:
    /// Deals the nonzeros of row `i` to the unit steps that take them and to gathering steps.
    void write_lane(std::int32_t lane, std::int32_t i, std::int32_t first,
                    SellPattern const& pattern, std::int32_t base)
    {
        std::uint32_t unit = 0;
        std::size_t gathered = 0;
        for (std::int32_t p = a_.row_ptr[i]; p < a_.row_ptr[i + 1]; ++p) {
            std::int32_t const offset = a_.col[p] - lane - first;
            while (unit < pattern.unit && to_.offsets[pattern.first_offset + unit] < offset) {
                ++unit;
            }
            if (unit < pattern.unit && to_.offsets[pattern.first_offset + unit] == offset) {
                put_value(unit, lane, a_.values[p]);
            } else {
                put_value(pattern.unit + gathered, lane, a_.values[p]);
                put_column(gathered, lane, a_.col[p], base);
                ++gathered;
            }
        }
    }

    void put_value(std::size_t step, std::int32_t lane, T value)
    {
        to_.values[at_.values + step * height + lane] = static_cast<Stored>(value);
    }

    void put_column(std::size_t step, std::int32_t lane, std::int32_t column, std::int32_t base)
    {
        if (base < 0) {
            to_.wide[at_.wide + step * height + lane] = column;
        } else {
            to_.narrow[at_.narrow + step * height + lane] =
                static_cast<std::uint16_t>(column - base);
        }
    }

    CsrView<T> const& a_;
    Sell<T, Stored>& to_;
    SellPosition at_;
};

/// First rows of the second part, the third, ...: the chunks nearest to equal shares of nonzeros
/// and of the work of rows.
template <class T>
std::vector<std::int32_t> part_starts(CsrView<T> const& a, int parts)
{
    constexpr std::int32_t height = sell_height<T>;
    auto const work_before = [&](std::int32_t const& begin) { // of the row that begins there
        return static_cast<double>(begin + row_work * (&begin - a.row_ptr.data()));
    };
    std::vector<std::int32_t> starts;
    for (int part = 1; part < parts; ++part) {
        double const share = work_before(a.row_ptr.back()) * part / parts;
        auto const row =
            std::ranges::lower_bound(a.row_ptr, share, {}, work_before) - a.row_ptr.begin();
        starts.push_back((static_cast<std::int32_t>(row) + height / 2) / height * height);
    }
    return starts;
}

/// Cuts all rows into blocks and analyses them.
template <class T>
std::vector<Block> analyse(CsrView<T> const& a, SellOptions const& options)
{
    auto const cuts = part_starts(a, options.parts);
    std::vector<Block> blocks((static_cast<std::size_t>(a.rows) + block_rows - 1) / block_rows);
    parallel_for(blocks.size(), [&](std::size_t k) {
        auto const begin = static_cast<std::int32_t>(k) * block_rows;
        auto const end = static_cast<std::int32_t>(
            std::min<std::int64_t>(std::int64_t{begin} + block_rows, a.rows));
        BlockBuilder<T>{a, options, cuts, blocks[k]}.add_rows(begin, end);
    });
    return blocks;
}

/// Shares the patterns of all blocks, in order.
PatternTable merge_patterns(std::vector<Block>& blocks)
{
    PatternTable all;
    for (Block& block : blocks) {
        for (SellPattern const& pattern : block.table.patterns()) {
            block.patterns.push_back(all.number_of(block.table, pattern));
        }
    }
    return all;
}

/// Where each block's values and columns begin, and where the last one's end.
std::vector<SellPosition> block_starts(std::vector<Block> const& blocks)
{
    std::vector<SellPosition> starts{{0, 0, 0}};
    for (Block const& block : blocks) {
        SellPosition const& last = starts.back();
        starts.push_back({last.values + block.size.values, last.narrow + block.size.narrow,
                          last.wide + block.size.wide});
    }
    return starts;
}

/// Makes room for `count` columns and for a look beyond the last, unless there is none.
template <class Column>
void resize_columns(AlignedArray<Column>& columns, std::size_t count, std::int32_t height)
{
    auto const beyond = static_cast<std::size_t>(sell_lookahead) * static_cast<std::size_t>(height);
    columns.resize(count == 0 ? 0 : count + beyond);
    std::fill(columns.begin() + static_cast<std::ptrdiff_t>(count), columns.end(), Column{0});
}

/// Marks the first chunk of every group.
template <class Stored, class T>
void mark_groups(Sell<T, Stored>& a)
{
    std::int32_t const whole_chunks = a.rows / sell_height<T>;
    for (std::int32_t c = 0; c + sell_group <= whole_chunks;) {
        auto const& pattern = a.patterns[a.chunks[c].pattern()];
        auto const alike = [&](SellChunk const& chunk) { return chunk.bits == a.chunks[c].bits; };
        bool const is_group = pattern.full + pattern.partial == 0 && !a.chunks[c].sorted() &&
                              std::all_of(&a.chunks[c] + 1, &a.chunks[c] + sell_group, alike);
        if (is_group) {
            a.chunks[c].bits |= SellChunk::group_bit;
        }
        c += is_group ? sell_group : 1;
    }
}

template <class Element>
AlignedArray<Element> copy_of(std::span<Element const> elements)
{
    return {elements.begin(), elements.end()};
}

} // namespace

template <class Stored, class T>
Sell<T, Stored> to_sell(CsrView<T> const& a, SellOptions const& options)
{
    constexpr std::int32_t height = sell_height<T>;
    constexpr std::int32_t stride = SellView<T, Stored>::stride;
    static_assert(block_rows % (height * stride) == 0);

    require_sorted_rows(a);
    auto blocks = analyse(a, options);
    auto const table = merge_patterns(blocks);
    auto const starts = block_starts(blocks);
    bool const sorted =
        std::ranges::any_of(blocks, [](Block const& b) { return !b.order.empty(); });
    auto const chunks = (static_cast<std::size_t>(a.rows) + height - 1) / height;

    Sell<T, Stored> to;
    to.rows = a.rows;
    to.columns = a.columns;
    to.nonzero_count = a.nonzeros();
    to.patterns = copy_of(table.patterns());
    to.offsets = copy_of(table.offsets());
    to.masks = copy_of(table.masks());
    for (SellPattern& pattern : to.patterns) {
        constexpr unsigned every_lane = (1u << height) - 1;
        pattern.whole =
            std::ranges::all_of(std::span{to.masks}.subspan(pattern.first_mask, pattern.unit),
                                [](std::uint16_t mask) { return mask == every_lane; });
    }
    to.chunks.resize(chunks);
    to.positions.resize((chunks + stride - 1) / stride + 1);
    to.positions.back() = starts.back();
    to.values.resize(starts.back().values);
    resize_columns(to.narrow, starts.back().narrow, height);
    resize_columns(to.wide, starts.back().wide, height);
    to.order.resize(sorted ? static_cast<std::size_t>(a.rows) : 0);

    parallel_for(blocks.size(), [&](std::size_t k) {
        Block const& block = blocks[k];
        auto const first = static_cast<std::int32_t>(k) * (block_rows / height);
        std::ranges::transform(block.chunks, to.chunks.begin() + first, [&](SellChunk chunk) {
            auto const flag = chunk.bits & SellChunk::sorted_bit;
            return SellChunk{block.patterns[chunk.pattern()] | flag, chunk.base};
        });
        std::ranges::copy(block.order,
                          to.order.begin() + (block.order.empty() ? 0 : first * height));
        ChunkWriter<Stored, T> writer{a, to, starts[k]};
        for (std::size_t c = 0; c < block.chunks.size(); ++c) {
            if (c % stride == 0) {
                to.positions[(first + c) / stride] = writer.position();
            }
            writer.write(first + static_cast<std::int32_t>(c));
        }
    });
    mark_groups(to);
    return to;
}

template Sell<float, float> to_sell<float>(CsrView<float> const&, SellOptions const&);
template Sell<double, double> to_sell<double>(CsrView<double> const&, SellOptions const&);
template Sell<double, float> to_sell<float>(CsrView<double> const&, SellOptions const&);

} // namespace sparse
