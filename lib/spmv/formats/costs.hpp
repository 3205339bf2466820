#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

/// \file
/// What formats cost. One table for all, not a file a format: costs are fitted together, and the
/// digest that plans tell of is of all of them.

namespace spmv {

/// What one format costs in one precision: a row of a table that `fit_costs.py` writes.
template <std::size_t count>
struct Costs
{
    std::string_view format;
    int value_bytes;                 ///< 4: fp32, 8: fp64
    std::array<double, count> costs; ///< nanoseconds of one of each feature
    double margin;     ///< how far the time over that of CSR may be underestimated, 1 or more
    double conversion; ///< nanoseconds a nonzero that one thread takes to convert

    /// Nanoseconds of a multiply by one thread.
    double nanoseconds(std::array<double, count> const& features) const
    {
        double sum = 0;
        for (std::size_t k = 0; k < count; ++k) {
            sum += costs[k] * features[k];
        }
        return sum;
    }
};

/// The row of a format; null if it has none.
template <std::size_t count>
Costs<count> const* costs_of(std::span<Costs<count> const> table, std::string_view format,
                             std::size_t value_bytes)
{
    for (auto const& row : table) {
        if (row.format == format && static_cast<std::size_t>(row.value_bytes) == value_bytes) {
            return &row;
        }
    }
    return nullptr;
}

/// Eight hexadecimal digits of all numbers of a table: the hash FNV-1a.
template <std::size_t count>
std::string digest_of(std::span<Costs<count> const> table)
{
    std::uint64_t hash = 0xcbf29ce484222325;
    auto const add = [&](double number) {
        hash = (hash ^ std::bit_cast<std::uint64_t>(number)) * 0x100000001b3;
    };
    for (auto const& row : table) {
        for (double const cost : row.costs) {
            add(cost);
        }
        add(row.margin);
        add(row.conversion);
    }
    char text[9];
    std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(hash >> 32 ^ hash));
    return text;
}

/// The costs of the host's formats: nonzeros, rows, stored bytes, runs of consecutive columns.
std::span<Costs<4> const> host_costs();

/// Those of the GPU's: nonzeros, rows, stored bytes, one, the longest row.
std::span<Costs<5> const> gpu_costs();

} // namespace spmv
