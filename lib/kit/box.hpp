#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace kit {

/// What one rank multiplies: its rows of the matrix, the part of x that it has, and y to write.
struct Part
{
    std::int32_t rows;
    std::int32_t columns;
    std::int32_t vectors;
    std::span<std::int32_t const> row_ptr; ///< rows + 1 offsets, the first 0
    std::span<std::int32_t const> col;
    std::span<double const> values;
    std::span<double const> x;
    std::span<double> y;
    std::span<std::int32_t const> starts; ///< the first row of each rank, last the number of rows
};

/// Calls the function that is handed in: each kit has one of its own.
void call(Part const& part);

/// Does for each call what `work` does with the region and its size in bytes, until the judge
/// behind the socket at `path` goes.
int serve(char const* path, int rank, std::function<void(char*, std::size_t)> const& work);

/// As above: calls what is handed in.
int serve(char const* path, int rank);

} // namespace kit
