#pragma once

#include "sparse/csr.hpp"
#include "sparse/parallel.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace sparse {

/// The value of an entry of which only the position matters.
struct NoValue
{
};

/// One coordinate and its value, zero-based.
template <class T, class I>
struct Entry
{
    I row;                         ///< zero-based
    I col;                         ///< zero-based
    [[no_unique_address]] T value; ///< no bytes if a `NoValue`
};

/// Builds CSR from entries in any order: a stable radix sort in two steps, in O(nonzeros + rows)
/// as long as the columns of a row come in order, with a sort of the row where they do not.
///
/// The entries come in parts. They are first dealt into buckets, ranges of rows small enough for
/// a cache; then each bucket is sorted by itself. Both steps keep the order of appearance, so the
/// result, down to the rounding of summed duplicates, depends on neither the number of threads nor
/// the cut into parts.
template <class T, class I>
class Assembly
{
public:
    /// For a matrix of that size.
    Assembly(I rows, I columns) : rows_{rows}, columns_{columns} {}

    /// Takes the entries of `parts` parts; `visit(k, take)` calls `take(row, col, value)` for each
    /// entry of part `k` in order, and is run twice. Throws `std::invalid_argument` if an index is
    /// outside the matrix, `std::length_error` if `I` cannot count the entries.
    template <class Visit>
    void deal(std::size_t parts, std::size_t total, Visit const& visit)
    {
        if (total > static_cast<std::size_t>(std::numeric_limits<I>::max())) {
            throw std::length_error{"more entries than the index type can count"};
        }
        choose_buckets(total);
        auto offsets = count(parts, visit);
        entries_.resize(total);
        parallel_for(parts, [&](std::size_t part) {
            auto* const offset = offsets.data() + part * buckets_;
            visit(part, [&](I row, I col, T const& value) {
                entries_[offset[bucket_of(row)]++] = {row, col, value};
            });
        });
    }

    /// Sorts what was dealt and sums duplicates in order of appearance.
    Csr<T, I> finish()
    {
        Csr<T, I> result;
        result.rows = rows_;
        result.columns = columns_;
        result.row_ptr.resize(static_cast<std::size_t>(rows_) + 1);
        result.row_ptr[0] = 0;
        result.col.resize(entries_.size());
        if constexpr (has_values) {
            result.values.resize(entries_.size());
        }
        std::vector<std::size_t> kept(buckets_);
        parallel_for(buckets_, [&](std::size_t b) { kept[b] = sort_bucket(b, result); });
        entries_ = {};
        close_gaps(kept, result);
        return result;
    }

private:
    static constexpr bool has_values = !std::is_empty_v<T>;
    static constexpr std::size_t max_buckets = 256;
    static constexpr std::size_t bucket_entries = 1 << 15;

    /// What remains of an entry within its row.
    struct Cell
    {
        I col;
        [[no_unique_address]] T value;
    };

    void choose_buckets(std::size_t total)
    {
        auto const wanted = std::clamp<std::size_t>(total / bucket_entries, 1, max_buckets);
        shift_ = 0;
        while (rows_ > 0 && bucket_of(rows_ - 1) >= wanted) {
            ++shift_;
        }
        buckets_ = rows_ > 0 ? bucket_of(rows_ - 1) + 1 : 1;
    }

    std::size_t bucket_of(I row) const { return static_cast<std::size_t>(row) >> shift_; }

    std::size_t first_row(std::size_t bucket) const
    {
        return std::min(bucket << shift_, static_cast<std::size_t>(rows_));
    }

    /// Where the entries of each part begin in each bucket, `[part * buckets_ + bucket]`.
    template <class Visit>
    std::vector<std::size_t> count(std::size_t parts, Visit const& visit)
    {
        std::vector<std::size_t> offsets(parts * buckets_);
        parallel_for(parts, [&](std::size_t part) {
            auto* const tally = offsets.data() + part * buckets_;
            visit(part, [&](I row, I col, T const&) {
                if (row < 0 || row >= rows_ || col < 0 || col >= columns_) {
                    throw std::invalid_argument{"a coordinate lies outside its matrix"};
                }
                ++tally[bucket_of(row)];
            });
        });
        bounds_.assign(buckets_ + 1, 0);
        std::size_t total = 0;
        for (std::size_t b = 0; b < buckets_; ++b) {
            bounds_[b] = total;
            for (std::size_t part = 0; part < parts; ++part) {
                total += std::exchange(offsets[part * buckets_ + b], total);
            }
        }
        bounds_[buckets_] = total;
        return offsets;
    }

    /// Writes the sorted rows of one bucket from its place on and their ends, counted from there,
    /// to `row_ptr`. Returns how many entries are left when duplicates are summed.
    std::size_t sort_bucket(std::size_t bucket, Csr<T, I>& result) const
    {
        auto const begin = first_row(bucket);
        auto const end = first_row(bucket + 1);
        auto const place = bounds_[bucket];
        std::span const entries{entries_.data() + place, bounds_[bucket + 1] - place};

        Array<I> offsets(end - begin + 1, I{0});
        for (auto const& e : entries) {
            ++offsets[static_cast<std::size_t>(e.row) - begin];
        }
        std::exclusive_scan(offsets.begin(), offsets.end(), offsets.begin(), I{0});
        Array<Cell> cells(entries.size());
        for (auto const& e : entries) {
            auto& offset = offsets[static_cast<std::size_t>(e.row) - begin];
            cells[static_cast<std::size_t>(offset++)] = {e.col, e.value};
        }

        std::size_t kept = 0;
        auto* row = cells.data();
        for (auto r = begin; r < end; ++r) {
            auto* const row_end = cells.data() + offsets[r - begin];
            sort_row(row, row_end);
            kept = merge_row(row, row_end, place, kept, result);
            result.row_ptr[r + 1] = static_cast<I>(kept);
            row = row_end;
        }
        return kept;
    }

    static void sort_row(Cell* first, Cell* last)
    {
        auto const before = [](Cell const& a, Cell const& b) { return a.col < b.col; };
        if (std::is_sorted(first, last, before)) {
            return;
        }
        if (last - first > 32) {
            std::stable_sort(first, last, before);
            return;
        }
        // std::stable_sort asks for memory even for the shortest row.
        for (auto* next = first + 1; next < last; ++next) {
            auto* const position = std::upper_bound(first, next, *next, before);
            std::rotate(position, next, next + 1);
        }
    }

    static std::size_t merge_row(Cell const* first, Cell const* last, std::size_t place,
                                 std::size_t kept, Csr<T, I>& result)
    {
        for (auto const* cell = first; cell < last; ++cell) {
            if (cell > first && cell->col == cell[-1].col) {
                if constexpr (has_values) {
                    result.values[place + kept - 1] += cell->value;
                }
                continue;
            }
            result.col[place + kept] = cell->col;
            if constexpr (has_values) {
                result.values[place + kept] = cell->value;
            }
            ++kept;
        }
        return kept;
    }

    /// Moves the buckets together where duplicates left room and completes `row_ptr`.
    void close_gaps(std::vector<std::size_t> const& kept, Csr<T, I>& result) const
    {
        std::vector<std::size_t> place(buckets_ + 1, 0);
        std::inclusive_scan(kept.begin(), kept.end(), place.begin() + 1);
        auto const close = [&](auto& array) {
            for (std::size_t b = 0; b < buckets_; ++b) {
                if (place[b] != bounds_[b]) {
                    auto const from = array.begin() + static_cast<std::ptrdiff_t>(bounds_[b]);
                    std::move(from, from + static_cast<std::ptrdiff_t>(kept[b]),
                              array.begin() + static_cast<std::ptrdiff_t>(place[b]));
                }
            }
            array.resize(place[buckets_]);
        };
        close(result.col);
        if constexpr (has_values) {
            close(result.values);
        }
        parallel_for(buckets_, [&](std::size_t b) {
            for (auto r = first_row(b); r < first_row(b + 1); ++r) {
                result.row_ptr[r + 1] += static_cast<I>(place[b]);
            }
        });
    }

    I rows_;
    I columns_;
    unsigned shift_ = 0;
    std::size_t buckets_ = 1;
    std::vector<std::size_t> bounds_ = {0, 0};
    Array<Entry<T, I>> entries_;
};

} // namespace sparse
