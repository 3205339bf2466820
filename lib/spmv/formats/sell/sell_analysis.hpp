#pragma once

// Included by sell.cpp alone.

#include "spmv/formats/sell/sell.hpp"
#include "spmv/formats/sell/sell_patterns.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

namespace sparse::detail {

inline constexpr std::int32_t most_height = sell_height<float>;
inline constexpr std::int32_t narrow_span = 65536;

/// What the choices below count, in bytes read from memory: a column that is gathered costs the
/// processor about as much time as this.
inline constexpr double gathering = 3;
/// The same for a row of `y` that is written out of order.
inline constexpr double scattering = 6;

/// A nonzero of a chunk's row.
struct Row
{
    std::int32_t begin = 0;
    std::int32_t end = 0;

    std::int32_t length() const { return end - begin; }
};

using Rows = std::array<Row, most_height>;

/// Cuts the rows of one matrix into chunks and steps.
template <class T>
class Analysis
{
public:
    static constexpr std::int32_t height = sell_height<T>;

    Analysis(CsrView<T> const& a, SellOptions const& options) : a_{a}, options_{options} {}

    /// Steps of the chunk of consecutive rows that begins with `first`.
    void natural(std::int32_t first, ChunkSteps& steps)
    {
        Rows rows{};
        std::int32_t const count = std::min(height, a_.rows - first);
        for (std::int32_t lane = 0; lane < count; ++lane) {
            rows[lane] = row(first + lane);
        }
        if (options_.unit_steps && has_diagonals(rows)) {
            find_diagonals(rows);
            choose_diagonals(rows, first, steps);
        } else {
            all_gather(rows, steps);
        }
    }

    /// Steps of the chunk of the rows `window + order[0]`, `window + order[1]`, ...
    void permuted(std::int32_t window, std::span<std::uint8_t const> order, ChunkSteps& steps)
    {
        Rows rows{};
        for (std::size_t lane = 0; lane < order.size(); ++lane) {
            rows[lane] = row(window + order[lane]);
        }
        all_gather(rows, steps);
    }

    /// The rows `begin <= i < end` of the window that begins with row `window`, in order of falling
    /// length, by their places in it.
    std::span<std::uint8_t const> sorted_rows(std::int32_t window, std::int32_t begin,
                                              std::int32_t end)
    {
        constexpr std::uint32_t longest = (1u << 24) - 1; // longer ones come in order of rows
        std::array<std::uint32_t, sell_window> keys;
        auto const used = std::span{keys}.first(static_cast<std::size_t>(end - begin));
        for (std::int32_t i = begin; i < end; ++i) {
            auto const length = std::min(static_cast<std::uint32_t>(row(i).length()), longest);
            used[i - begin] = (longest - length) << 8 | static_cast<std::uint32_t>(i - window);
        }
        std::ranges::sort(used);
        order_.assign(used.begin(), used.end());
        return order_;
    }

    /// What reading a chunk costs, in bytes.
    double cost(ChunkSteps const& steps) const
    {
        double const gathered = (steps.full + steps.partial) * double{height};
        double const column = steps.base < 0 ? 4 : 2;
        return static_cast<double>(steps.offsets.size()) * (height * sizeof(T) + 2.0) +
               gathered * (sizeof(T) + column + gathering);
    }

private:
    struct Diagonal
    {
        std::int32_t offset; ///< column minus lane
        std::uint16_t lanes;
        std::uint16_t count; ///< of lanes
    };

    Row row(std::int32_t i) const { return {a_.row_ptr[i], a_.row_ptr[i + 1]}; }

    /// Whether so many nonzeros have one right below in the next lane that a unit step may gain.
    bool has_diagonals(Rows const& rows) const
    {
        std::int32_t nonzeros = rows[0].length();
        std::int32_t pairs = 0;
        for (std::int32_t lane = 1; lane < height; ++lane) {
            std::int32_t above = rows[lane - 1].begin;
            std::int32_t const last = rows[lane - 1].end;
            nonzeros += rows[lane].length();
            for (std::int32_t p = rows[lane].begin; p < rows[lane].end; ++p) {
                while (above < last && a_.col[above] < a_.col[p] - 1) {
                    ++above;
                }
                pairs += above < last && a_.col[above] == a_.col[p] - 1 ? 1 : 0;
            }
        }
        return 8 * pairs >= nonzeros;
    }

    /// Merges the rows, each moved left by its lane, into the diagonals that they touch.
    void find_diagonals(Rows const& rows)
    {
        constexpr std::int32_t past = std::numeric_limits<std::int32_t>::max();
        diagonals_.clear();
        std::array<std::int32_t, height> at;
        std::array<std::int32_t, height> next;
        for (std::int32_t lane = 0; lane < height; ++lane) {
            at[lane] = rows[lane].begin;
            next[lane] = rows[lane].length() > 0 ? a_.col[at[lane]] - lane : past;
        }
        for (;;) {
            std::int32_t lowest = past;
            for (std::int32_t lane = 0; lane < height; ++lane) {
                lowest = std::min(lowest, next[lane]);
            }
            if (lowest == past) {
                return;
            }
            unsigned lanes = 0;
            for (std::int32_t lane = 0; lane < height; ++lane) {
                lanes |= (next[lane] == lowest ? 1u : 0u) << lane;
            }
            std::uint16_t count = 0;
            for (unsigned left = lanes; left != 0; left &= left - 1, ++count) {
                auto const lane = std::countr_zero(left);
                ++at[lane];
                next[lane] = at[lane] < rows[lane].end ? a_.col[at[lane]] - lane : past;
            }
            diagonals_.push_back({lowest, static_cast<std::uint16_t>(lanes), count});
        }
    }

    /// Makes unit steps of the diagonals with at least so many lanes as costs least.
    void choose_diagonals(Rows const& rows, std::int32_t first, ChunkSteps& steps)
    {
        double best = 0;
        std::int32_t chosen = 0;
        std::int32_t last = 0;
        std::ptrdiff_t taken = -1; // diagonals of the last try
        for (std::int32_t const least : {height + 1, height, 3 * height / 4, height / 2, 1}) {
            auto const takes = std::ranges::count_if(
                diagonals_, [&](Diagonal const& diagonal) { return diagonal.count >= least; });
            if (std::exchange(taken, takes) == takes) {
                continue; // the same ones
            }
            last = least;
            take_diagonals(rows, first, least, steps);
            double const now = cost(steps);
            if (chosen == 0 || now < best) {
                best = now;
                chosen = least;
            }
        }
        if (chosen != last) {
            take_diagonals(rows, first, chosen, steps);
        }
    }

    void take_diagonals(Rows const& rows, std::int32_t first, std::int32_t least, ChunkSteps& steps)
    {
        steps.clear();
        std::array<std::int32_t, most_height> rest{};
        for (std::int32_t lane = 0; lane < height; ++lane) {
            rest[lane] = rows[lane].length();
        }
        std::int32_t lowest = a_.columns;
        std::int32_t highest = 0;
        for (auto const& [offset, lanes, count] : diagonals_) {
            if (count >= least) {
                steps.offsets.push_back(offset - first);
                steps.masks.push_back(lanes);
                for (unsigned left = lanes; left != 0; left &= left - 1) {
                    --rest[std::countr_zero(left)];
                }
            } else {
                lowest = std::min(lowest, offset + std::countr_zero(lanes));
                highest = std::max(highest, offset + std::bit_width(lanes) - 1);
            }
        }
        gather_rest(rest, lowest, highest, steps);
    }

    /// Gathers everything.
    void all_gather(Rows const& rows, ChunkSteps& steps)
    {
        steps.clear();
        std::array<std::int32_t, most_height> lengths{};
        std::int32_t lowest = a_.columns;
        std::int32_t highest = 0;
        for (std::int32_t lane = 0; lane < height; ++lane) {
            lengths[lane] = rows[lane].length();
            if (lengths[lane] > 0) {
                lowest = std::min(lowest, a_.col[rows[lane].begin]);
                highest = std::max(highest, a_.col[rows[lane].end - 1]);
            }
        }
        gather_rest(lengths, lowest, highest, steps);
    }

    /// Adds the gathering steps for `rest[lane]` nonzeros of each lane.
    void gather_rest(std::array<std::int32_t, most_height> const& rest, std::int32_t lowest,
                     std::int32_t highest, ChunkSteps& steps) const
    {
        auto const lanes = std::span{rest}.first(height);
        std::int32_t const least = *std::ranges::min_element(lanes);
        std::int32_t const most = *std::ranges::max_element(lanes);
        steps.full = static_cast<std::uint32_t>(least);
        steps.partial = static_cast<std::uint32_t>(most - least);
        for (std::int32_t k = least; k < most; ++k) {
            unsigned mask = 0;
            for (std::int32_t lane = 0; lane < height; ++lane) {
                mask |= rest[lane] > k ? 1u << lane : 0u;
            }
            steps.masks.push_back(static_cast<std::uint16_t>(mask));
        }
        bool const narrow = options_.narrow && highest - lowest < narrow_span;
        steps.base = narrow ? std::min(lowest, highest) : -1;
    }

    CsrView<T> const& a_;
    SellOptions const& options_;
    std::vector<Diagonal> diagonals_;
    std::vector<std::uint8_t> order_;
};

} // namespace sparse::detail
