#include "spmv/plan_steps.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

namespace spmv {

namespace {

/// Counts loops, and those whose end a processor would not foresee from the last five: it remembers
/// how often a loop ran when it came the same way before.
class Loops
{
public:
    /// A loop that runs `length` times.
    void add(std::int64_t length)
    {
        auto& expected = table_[(history_ * 0x9E3779B97F4A7C15u >> 32) % table_.size()];
        surprises_ += expected == length ? 0 : 1;
        expected = length;
        history_ = history_ << 12 ^ static_cast<std::uint64_t>(length);
        count_ += 1;
    }

    double count() const { return count_; }
    double surprises() const { return surprises_; }

private:
    std::vector<std::int64_t> table_ = std::vector<std::int64_t>(4096, -1);
    std::uint64_t history_ = 0;
    double count_ = 0;
    double surprises_ = 0;
};

std::int32_t begin_of(sparse::PatternView<> const& a, std::int32_t i)
{
    return a.row_ptr[static_cast<std::size_t>(i)];
}

/// How many spans cover the columns of rows `first` to `last` without the last, at most eight: from
/// left to right each begins at the first column not covered yet, `j`, and ends before `end_of(j)`.
template <class EndOf>
std::int64_t spans_over(sparse::PatternView<> const& a, std::int32_t first, std::int32_t last,
                        EndOf const& end_of)
{
    constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();
    std::array<std::int32_t, 8> next{};
    auto const rows = static_cast<std::size_t>(last - first);
    std::copy_n(a.row_ptr.begin() + first, rows, next.begin());
    auto const column_at = [&](std::size_t row) {
        bool const ended = next[row] == begin_of(a, first + static_cast<std::int32_t>(row) + 1);
        return ended ? nowhere : a.col[static_cast<std::size_t>(next[row])];
    };
    for (std::int64_t count = 0;; ++count) {
        std::int64_t begin = nowhere;
        for (std::size_t row = 0; row < rows; ++row) {
            begin = std::min(begin, column_at(row));
        }
        if (begin == nowhere) {
            return count;
        }
        std::int64_t const end = end_of(begin);
        for (std::size_t row = 0; row < rows; ++row) {
            while (column_at(row) < end) {
                ++next[row];
            }
        }
    }
}

} // namespace

template <class T>
Steps csr_steps(sparse::CsrView<T> const& a)
{
    constexpr std::int32_t four = 4;
    Loops rows;
    double in_fours = 0;
    double single = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        std::int32_t const count = begin_of(a, i + 1) - begin_of(a, i);
        std::int32_t const fours = count < 2 * four ? 0 : count / four;
        rows.add(count);
        in_fours += fours * four;
        single += count - fours * four;
    }
    return {rows.count(), rows.surprises(), in_fours, single};
}

template <class T>
Steps sell_steps(sparse::Sell<T> const& a, bool in_groups)
{
    constexpr double grouped_step = 0.75; // of one by itself
    Loops chunks;
    Steps steps{};
    std::int32_t grouped = 0; // chunks of a group, with this one
    for (auto const& chunk : a.chunks) {
        grouped = in_groups && chunk.begins_group() ? sparse::sell_group : std::max(0, grouped - 1);
        auto const& pattern = a.patterns[chunk.pattern()];
        chunks.add(std::int64_t{pattern.unit} * 65'537 * 257 + pattern.full * 65'537 +
                   pattern.partial);
        steps[pattern.whole ? 2 : 6] += pattern.unit * (grouped > 0 ? grouped_step : 1);
        steps[3] += pattern.full;
        steps[4] += pattern.partial;
        steps[5] += chunk.sorted() ? 1 : 0;
    }
    steps[0] = chunks.count();
    steps[1] = chunks.surprises();
    return steps;
}

Steps run_steps(sparse::PatternView<> const& a, std::int32_t longest, std::int32_t lanes)
{
    Loops rows;
    double pieces = 0;
    double vectors = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        std::int64_t count = 0;
        for (std::int32_t p = begin_of(a, i); p < begin_of(a, i + 1);) {
            std::int32_t length = 1;
            while (length < longest && p + length < begin_of(a, i + 1) &&
                   a.col[static_cast<std::size_t>(p + length)] ==
                       a.col[static_cast<std::size_t>(p)] + length) {
                ++length;
            }
            p += length;
            ++count;
            vectors += (length + lanes - 1) / lanes;
        }
        rows.add(count);
        pieces += static_cast<double>(count);
    }
    return {rows.count(), rows.surprises(), pieces, vectors};
}

template <class T>
Steps window_steps(sparse::PatternView<> const& a, std::int32_t group_rows)
{
    constexpr std::int32_t width = 64 / sizeof(T);
    Loops groups;
    double windows = 0;
    for (std::int32_t i = 0; i < a.rows; i += group_rows) {
        auto const count = spans_over(a, i, std::min(i + group_rows, a.rows),
                                      [](std::int64_t j) { return j + width; });
        groups.add(count);
        windows += static_cast<double>(count);
    }
    return {groups.count(), groups.surprises(), windows, windows * group_rows};
}

Steps block_steps(sparse::PatternView<> const& a, std::int32_t block_rows,
                  std::int32_t block_columns)
{
    Loops units;
    double blocks = 0;
    for (std::int32_t i = 0; i < a.rows; i += block_rows) {
        auto const count = spans_over(a, i, std::min(i + block_rows, a.rows), [&](std::int64_t j) {
            return (j / block_columns + 1) * block_columns;
        });
        units.add(count);
        blocks += static_cast<double>(count);
    }
    return {units.count(), units.surprises(), blocks};
}

template Steps csr_steps(sparse::CsrView<float> const&);
template Steps csr_steps(sparse::CsrView<double> const&);
template Steps sell_steps(sparse::Sell<float> const&, bool);
template Steps sell_steps(sparse::Sell<double> const&, bool);
template Steps window_steps<float>(sparse::PatternView<> const&, std::int32_t);
template Steps window_steps<double>(sparse::PatternView<> const&, std::int32_t);

} // namespace spmv
