#include "sparse/catalogue/generators.hpp"

#include "sparse/assemble.hpp"
#include "sparse/catalogue/sample.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace sparse {
namespace {

/// Throws unless `least <= value <= most`; says so for parameter `name` of `generator`.
void require(std::string_view generator, std::string_view name, Count value, Count least,
             Count most)
{
    if (value >= least && value <= most) {
        return;
    }
    throw std::invalid_argument(std::string{generator} + ": " + std::string{name} + " = " +
                                std::to_string(value) + ", expected " + std::to_string(least) +
                                " to " + std::to_string(most));
}

/// `count` as an index, or an exception that says which of rows, columns, nonzeros is too large.
template <class I>
I fitted(std::string_view generator, std::string_view what, Count count)
{
    // The largest count of all stands for what `product` could not hold.
    constexpr auto most =
        std::min<Count>(std::numeric_limits<I>::max(), std::numeric_limits<Count>::max() - 1);
    require(generator, what, count, 0, most);
    return static_cast<I>(count);
}

/// a * b for counts that are not negative, or the largest count where that would wrap.
Count product(Count a, Count b)
{
    Count result = 0;
    return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<Count>::max() : result;
}

/// Turns row lengths in `row_ptr[1..]` into offsets; returns the number of nonzeros.
template <class I>
std::size_t accumulate_lengths(std::string_view generator, Array<I>& row_ptr)
{
    Count total = 0;
    row_ptr[0] = 0;
    for (std::size_t i = 1; i < row_ptr.size(); ++i) {
        total += row_ptr[i];
        row_ptr[i] = fitted<I>(generator, "nonzeros", total);
    }
    return static_cast<std::size_t>(total);
}

template <class I>
std::span<I> row_of(Pattern<I>& a, I i)
{
    auto const begin = static_cast<std::size_t>(a.row_ptr[i]);
    return std::span<I>{a.col}.subspan(begin, static_cast<std::size_t>(a.row_ptr[i + 1]) - begin);
}

template <class I>
std::span<I const> row_of(Pattern<I> const& a, I i)
{
    auto const begin = static_cast<std::size_t>(a.row_ptr[i]);
    return std::span<I const>{a.col}.subspan(begin,
                                             static_cast<std::size_t>(a.row_ptr[i + 1]) - begin);
}

/// The structure whose row i has `length(i)` columns, written in ascending order by `fill(i, row)`;
/// of its rows those that are to be made.
template <class I, class Length, class Fill>
Pattern<I> build(std::string_view generator, I rows, I columns, RowRange made, Length const& length,
                 Fill const& fill)
{
    auto const first = static_cast<I>(std::clamp<Count>(made.begin, 0, rows));
    auto const last = static_cast<I>(std::clamp<Count>(made.end, first, rows));
    Pattern<I> a;
    a.rows = last - first;
    a.columns = columns;
    a.row_ptr.resize(static_cast<std::size_t>(a.rows) + 1);
#pragma omp parallel for schedule(static)
    for (I i = 0; i < a.rows; ++i) {
        a.row_ptr[i + 1] = length(first + i);
    }
    a.col.resize(accumulate_lengths(generator, a.row_ptr));
#pragma omp parallel for schedule(dynamic, 1024)
    for (I i = 0; i < a.rows; ++i) {
        fill(first + i, row_of(a, i));
    }
    return a;
}

/// The columns [begin, end) within `reach` of the diagonal of a square matrix.
template <class I>
struct Window
{
    I begin;
    I end;

    Window(I i, I reach, I columns)
        : begin{i > reach ? i - reach : 0}, end{reach < columns - i ? i + reach + 1 : columns}
    {
    }

    I size() const { return end - begin; }
};

/// Most columns that the window of every row has.
Count window_capacity(Count rows, Count window)
{
    return window < rows ? window + 1 : rows;
}

/// Distinct random columns within `window` of the diagonal.
template <class I>
void sample_near(I i, I window, I columns, std::uint64_t seed, std::span<I> row)
{
    base::Random random{seed, static_cast<std::uint64_t>(i)};
    Window<I> const near{i, window, columns};
    sample<I>(random, near.begin, near.end, row);
}

/// Two independent streams for each row: lengths and columns are drawn in different passes.
enum class Use : std::uint64_t
{
    length,
    columns,
};

template <class I>
base::Random stream(std::uint64_t seed, I i, Use use)
{
    return base::Random{seed, 2 * static_cast<std::uint64_t>(i) + static_cast<std::uint64_t>(use)};
}

/// Number of grid coordinates within one step of `v`, itself included, on an axis of `n`.
template <class I>
I neighbours(I v, I n)
{
    return 1 + (v > 0) + (v < n - 1);
}

template <class I>
Pattern<I> stencil27_named(std::string_view generator, Count n, Count unknowns,
                           RowRange rows_made = {})
{
    require(generator, "n", n, 1, std::numeric_limits<I>::max());
    auto const nodes = fitted<I>(generator, "rows", product(product(n, n), n));
    fitted<I>(generator, "rows", product(nodes, unknowns));
    auto const side = static_cast<I>(n);
    auto const length = [side](I i) {
        return neighbours(i % side, side) * neighbours(i / side % side, side) *
               neighbours(i / side / side, side);
    };
    return build<I>(generator, nodes, nodes, rows_made, length, [side](I i, std::span<I> row) {
        Window<I> const x{i % side, 1, side};
        Window<I> const y{i / side % side, 1, side};
        Window<I> const z{i / side / side, 1, side};
        auto out = row.begin();
        for (I k = z.begin; k < z.end; ++k) {
            for (I j = y.begin; j < y.end; ++j) {
                std::iota(out, out + x.size(), (k * side + j) * side + x.begin);
                out += x.size();
            }
        }
    });
}

/// Replaces each entry by a dense square block of `block` rows and columns.
template <class I>
Pattern<I> expand_blocks(std::string_view generator, Pattern<I> const& nodes, I block)
{
    auto const length = [&](I i) {
        return static_cast<I>(row_of(nodes, static_cast<I>(i / block)).size()) * block;
    };
    auto const fill = [&](I i, std::span<I> row) {
        auto out = row.begin();
        for (I const node : row_of(nodes, static_cast<I>(i / block))) {
            std::iota(out, out + block, node * block);
            out += block;
        }
    };
    return build<I>(generator, nodes.rows * block, nodes.columns * block, RowRange{}, length, fill);
}

/// A permutation of [0, count) that moves nothing out of its window of `window` numbers.
template <class I>
Array<I> shuffled_windows(I count, I window, std::uint64_t seed)
{
    Array<I> label(static_cast<std::size_t>(count));
    I const windows = count / window + (count % window != 0);
#pragma omp parallel for schedule(static)
    for (I w = 0; w < windows; ++w) {
        I const begin = w * window;
        I const size = std::min(window, count - begin);
        auto const part = std::span<I>{label}.subspan(begin, size);
        std::iota(part.begin(), part.end(), begin);
        base::Random random{seed, static_cast<std::uint64_t>(w)};
        for (I k = size; k > 1; --k) {
            std::swap(part[k - 1], part[random.below(static_cast<std::uint64_t>(k))]);
        }
    }
    return label;
}

/// Renumbers row and column i as `label[i]`.
template <class I>
Pattern<I> relabelled(std::string_view generator, Pattern<I> const& a, Array<I> const& label)
{
    Array<I> origin(label.size());
    for (I i = 0; i < a.rows; ++i) {
        origin[label[i]] = i;
    }
    auto const length = [&](I i) { return static_cast<I>(row_of(a, origin[i]).size()); };
    return build<I>(generator, a.rows, a.columns, RowRange{}, length, [&](I i, std::span<I> row) {
        auto const from = row_of(a, origin[i]);
        std::transform(from.begin(), from.end(), row.begin(), [&](I j) { return label[j]; });
        std::sort(row.begin(), row.end());
    });
}

/// Edge number `number` of an R-MAT graph: row and column.
template <class I>
std::pair<I, I> rmat_edge(Count scale, std::uint64_t number, std::uint64_t seed)
{
    base::Random random{seed, number};
    I row = 0;
    I column = 0;
    for (Count level = 0; level < scale; ++level) {
        auto const percent = random.below(100);
        // Without branches, which no predictor would guess: quadrants end at 57, 76, 95 and 100.
        int const past_first = percent >= 57;
        int const lower = percent >= 76;
        int const past_third = percent >= 95;
        row = row * 2 + lower;
        column = column * 2 + (past_first ^ lower ^ past_third);
    }
    return {row, column};
}

} // namespace

template <class I>
Pattern<I> poisson2d(Count n, RowRange rows_made)
{
    require("poisson2d", "n", n, 1, std::numeric_limits<I>::max());
    auto const rows = fitted<I>("poisson2d", "rows", product(n, n));
    auto const side = static_cast<I>(n);
    auto const length = [side](I i) {
        return static_cast<I>(neighbours(i % side, side) + neighbours(i / side, side) - 1);
    };
    return build<I>("poisson2d", rows, rows, rows_made, length, [side](I i, std::span<I> row) {
        I const x = i % side;
        I const y = i / side;
        auto out = row.begin();
        if (y > 0) {
            *out++ = i - side;
        }
        Window<I> const line{x, 1, side};
        std::iota(out, out + line.size(), i - x + line.begin);
        if (y < side - 1) {
            row.back() = i + side;
        }
    });
}

template <class I>
Pattern<I> stencil27(Count n, RowRange rows_made)
{
    return stencil27_named<I>("stencil27", n, 1, rows_made);
}

template <class I>
Pattern<I> fem3(Count n)
{
    return expand_blocks<I>("fem3", stencil27_named<I>("fem3", n, 3), 3);
}

template <class I>
Pattern<I> fem3_shuffled(Count n, Count window, std::uint64_t seed)
{
    constexpr std::string_view generator = "fem3_shuffled";
    require(generator, "window", window, 1, std::numeric_limits<I>::max());
    auto const nodes = stencil27_named<I>(generator, n, 3);
    auto const reach = static_cast<I>(std::min<Count>(window, nodes.rows));
    auto const label = shuffled_windows<I>(nodes.rows, reach, seed);
    return expand_blocks<I>(generator, relabelled<I>(generator, nodes, label), 3);
}

template <class I>
Pattern<I> banded(Count rows, Count width, RowRange rows_made)
{
    auto const m = fitted<I>("banded", "rows", rows);
    require("banded", "width", width, 0, m);
    fitted<I>("banded", "nonzeros", product(rows, width));
    auto const w = static_cast<I>(width);
    auto const length = [w](I) { return w; };
    return build<I>("banded", m, m, rows_made, length, [m, w](I i, std::span<I> row) {
        I const centred = i > w / 2 ? i - w / 2 : 0;
        std::iota(row.begin(), row.end(), std::min<I>(centred, m - w));
    });
}

template <class I>
Pattern<I> random_rows(Count rows, Count columns, Count per_row, std::uint64_t seed,
                       RowRange rows_made)
{
    auto const m = fitted<I>("random_rows", "rows", rows);
    auto const n = fitted<I>("random_rows", "columns", columns);
    require("random_rows", "per_row", per_row, 0, n);
    fitted<I>("random_rows", "nonzeros", product(rows, per_row));
    auto const length = [per_row](I) { return static_cast<I>(per_row); };
    return build<I>("random_rows", m, n, rows_made, length, [=](I i, std::span<I> row) {
        base::Random random{seed, static_cast<std::uint64_t>(i)};
        sample<I>(random, 0, n, row);
    });
}

template <class I>
Pattern<I> rmat(Count scale, Count edges, std::uint64_t seed)
{
    require("rmat", "scale", scale, 0, std::numeric_limits<I>::digits - 1);
    fitted<I>("rmat", "edges", edges);
    auto const vertices = static_cast<I>(I{1} << scale);
    Assembly<NoValue, I> assembly{vertices, vertices};
    constexpr Count part = 1 << 16;
    auto const parts = static_cast<std::size_t>((edges + part - 1) / part);
    assembly.deal(parts, static_cast<std::size_t>(edges), [=](std::size_t p, auto const& take) {
        auto const begin = static_cast<Count>(p) * part;
        for (Count k = begin; k < std::min(begin + part, edges); ++k) {
            auto const [row, column] = rmat_edge<I>(scale, static_cast<std::uint64_t>(k), seed);
            take(row, column, NoValue{});
        }
    });
    auto graph = assembly.finish();
    return {vertices, vertices, std::move(graph.row_ptr), std::move(graph.col)};
}

template <class I>
Pattern<I> dense_rows(Count rows, Count full, Count per_row, Count window, std::uint64_t seed,
                      RowRange rows_made)
{
    auto const m = fitted<I>("dense_rows", "rows", rows);
    require("dense_rows", "full", full, 0, m);
    require("dense_rows", "window", window, 0, std::numeric_limits<I>::max());
    require("dense_rows", "per_row", per_row, 0, window_capacity(m, window));
    fitted<I>("dense_rows", "nonzeros", product(rows, full));
    auto const is_full = [rows, full](Count i) {
        return ((i + 1) * full + rows / 2) / rows != (i * full + rows / 2) / rows;
    };
    auto const length = [=](I i) { return is_full(i) ? m : static_cast<I>(per_row); };
    return build<I>("dense_rows", m, m, rows_made, length, [=](I i, std::span<I> row) {
        if (is_full(i)) {
            std::iota(row.begin(), row.end(), I{0});
            return;
        }
        sample_near(i, static_cast<I>(window), m, seed, row);
    });
}

template <class I>
Pattern<I> short_rows(Count rows, Count window, std::uint64_t seed, RowRange rows_made)
{
    auto const m = fitted<I>("short_rows", "rows", rows);
    require("short_rows", "window", window, 0, std::numeric_limits<I>::max());
    auto const longest = static_cast<std::uint64_t>(std::min<Count>(rows, 3));
    auto const length = [=](I i) {
        return static_cast<I>(1 + stream(seed, i, Use::length).below(longest));
    };
    return build<I>("short_rows", m, m, rows_made, length, [=](I i, std::span<I> row) {
        auto random = stream(seed, i, Use::columns);
        Window<I> const near{i, static_cast<I>(window), m};
        row[0] = i;
        for (auto out = row.begin() + 1; out != row.end();) {
            bool const far = random.below(10) == 0;
            I const first = far ? 0 : near.begin;
            I const size = far ? m : near.size();
            *out = first + static_cast<I>(random.below(static_cast<std::uint64_t>(size)));
            out += std::find(row.begin(), out, *out) == out;
        }
        std::sort(row.begin(), row.end());
    });
}

template <class I>
Pattern<I> local_rows(Count rows, Count nonzeros, Count window, std::uint64_t seed,
                      RowRange rows_made)
{
    auto const m = fitted<I>("local_rows", "rows", rows);
    require("local_rows", "window", window, 0, std::numeric_limits<I>::max());
    auto const most = product(rows, window_capacity(m, window));
    require("local_rows", "nonzeros", nonzeros, 0,
            std::min<Count>(most, std::numeric_limits<I>::max()));
    auto const length = [=](I i) {
        auto const dealt_before = [=](Count row) {
            return static_cast<Count>(static_cast<base::Uint128>(row) * nonzeros / rows);
        };
        return static_cast<I>(dealt_before(Count{i} + 1) - dealt_before(i));
    };
    return build<I>("local_rows", m, m, rows_made, length, [=](I i, std::span<I> row) {
        sample_near(i, static_cast<I>(window), m, seed, row);
    });
}

template <class I>
Pattern<I> runs(Count rows, Count per_row, Count segments, Count window, std::uint64_t seed,
                RowRange rows_made)
{
    auto const m = fitted<I>("runs", "rows", rows);
    require("runs", "per_row", per_row, 1, m);
    require("runs", "segments", segments, 1, per_row);
    require("runs", "window", window, per_row + segments - 1, m);
    fitted<I>("runs", "nonzeros", product(rows, per_row));
    auto const length = [per_row](I) { return static_cast<I>(per_row); };
    return build<I>("runs", m, m, rows_made, length, [=](I i, std::span<I> row) {
        auto const centred = static_cast<I>(std::max<Count>(0, i - window / 2));
        auto const begin = std::min<I>(centred, static_cast<I>(m - window));
        // Distinct numbers plus the lengths of the runs before are starts of runs that never touch.
        // They wait at the end of the row: the runs written from its beginning never pass them.
        auto const starts = row.last(static_cast<std::size_t>(segments));
        base::Random random{seed, static_cast<std::uint64_t>(i)};
        sample<I>(random, begin, static_cast<I>(begin + window - per_row + 1), starts);
        auto out = row.begin();
        for (Count s = 0; s < segments; ++s) {
            I const first = starts[static_cast<std::size_t>(s)] + static_cast<I>(out - row.begin());
            auto const end = out + per_row / segments + (s < per_row % segments);
            std::iota(out, end, first);
            out = end;
        }
    });
}

template <class I>
Pattern<I> dense(Count rows, Count columns, RowRange rows_made)
{
    auto const m = fitted<I>("dense", "rows", rows);
    auto const n = fitted<I>("dense", "columns", columns);
    fitted<I>("dense", "nonzeros", product(rows, columns));
    auto const length = [n](I) { return n; };
    return build<I>("dense", m, n, rows_made, length,
                    [](I, std::span<I> row) { std::iota(row.begin(), row.end(), I{0}); });
}

template <class I>
Pattern<I> empty(Count rows, Count columns)
{
    Pattern<I> a;
    a.rows = fitted<I>("empty", "rows", rows);
    a.columns = fitted<I>("empty", "columns", columns);
    a.row_ptr.assign(static_cast<std::size_t>(a.rows) + 1, I{0});
    return a;
}

template <class I>
Pattern<I> ragged(Count rows, Count columns, Count longest, std::uint64_t seed, RowRange rows_made)
{
    auto const m = fitted<I>("ragged", "rows", rows);
    auto const n = fitted<I>("ragged", "columns", columns);
    require("ragged", "longest", longest, 0, n);
    auto const length = [=](I i) {
        return static_cast<I>(
            stream(seed, i, Use::length).below(static_cast<std::uint64_t>(longest) + 1));
    };
    return build<I>("ragged", m, n, rows_made, length, [=](I i, std::span<I> row) {
        auto random = stream(seed, i, Use::columns);
        sample<I>(random, 0, n, row);
    });
}

template Pattern<std::int32_t> poisson2d(Count, RowRange);
template Pattern<std::int32_t> stencil27(Count, RowRange);
template Pattern<std::int32_t> fem3(Count);
template Pattern<std::int32_t> fem3_shuffled(Count, Count, std::uint64_t);
template Pattern<std::int32_t> banded(Count, Count, RowRange);
template Pattern<std::int32_t> random_rows(Count, Count, Count, std::uint64_t, RowRange);
template Pattern<std::int32_t> rmat(Count, Count, std::uint64_t);
template Pattern<std::int32_t> dense_rows(Count, Count, Count, Count, std::uint64_t, RowRange);
template Pattern<std::int32_t> short_rows(Count, Count, std::uint64_t, RowRange);
template Pattern<std::int32_t> local_rows(Count, Count, Count, std::uint64_t, RowRange);
template Pattern<std::int32_t> runs(Count, Count, Count, Count, std::uint64_t, RowRange);
template Pattern<std::int32_t> dense(Count, Count, RowRange);
template Pattern<std::int32_t> empty(Count, Count);
template Pattern<std::int32_t> ragged(Count, Count, Count, std::uint64_t, RowRange);

template Pattern<std::int64_t> poisson2d(Count, RowRange);
template Pattern<std::int64_t> stencil27(Count, RowRange);
template Pattern<std::int64_t> fem3(Count);
template Pattern<std::int64_t> fem3_shuffled(Count, Count, std::uint64_t);
template Pattern<std::int64_t> banded(Count, Count, RowRange);
template Pattern<std::int64_t> random_rows(Count, Count, Count, std::uint64_t, RowRange);
template Pattern<std::int64_t> rmat(Count, Count, std::uint64_t);
template Pattern<std::int64_t> dense_rows(Count, Count, Count, Count, std::uint64_t, RowRange);
template Pattern<std::int64_t> short_rows(Count, Count, std::uint64_t, RowRange);
template Pattern<std::int64_t> local_rows(Count, Count, Count, std::uint64_t, RowRange);
template Pattern<std::int64_t> runs(Count, Count, Count, Count, std::uint64_t, RowRange);
template Pattern<std::int64_t> dense(Count, Count, RowRange);
template Pattern<std::int64_t> empty(Count, Count);
template Pattern<std::int64_t> ragged(Count, Count, Count, std::uint64_t, RowRange);

} // namespace sparse
