#pragma once

#include "sparse/csr.hpp"
#include "spmv/formats/name.hpp"
#include "spmv/formats/parts.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

/// \file
/// What a format is to those who list it. Its folder has a header `host.hpp` with a structure for
/// each of its names and `All`, a tuple of them; `meson.build` here has the list of all folders.
///
/// Such a structure has a `name`; `build`, which converts to a `MatrixInFormat`; `kernel`, the
/// multiply of an instruction set; and `bytes` where those of a sample can be told without
/// converting it. What it does not say otherwise is that of `FormatDefaults`.

namespace spmv {

/// The cache of a core that tiles and small matrices are made for.
inline constexpr std::size_t core_cache_bytes = std::size_t{1} << 20;

/// How a format is built; each format heeds what concerns it.
struct BuildOptions
{
    int threads = 1;                ///< that will multiply
    int shares = 1;                 ///< parts that each of them begins with
    bool prefetch = false;          ///< kernels prefetch the matrix
    bool prefetch_vector = false;   ///< and elements of `x` that are gathered
    std::int32_t block_rows = 1;    ///< of formats of blocks
    std::int32_t block_columns = 1; ///< of dense blocks
    bool pieces_in_runs = false;    ///< pieces of long rows are stored by runs

    /// Rows with more nonzeros are cut to pieces.
    std::int32_t longest_row = std::numeric_limits<std::int32_t>::max();

    int parts() const { return threads * shares; }
};

/// What most formats are.
struct FormatDefaults
{
    static constexpr bool borrows = false;        ///< works on the arrays that it was made from
    static constexpr bool rounds = false;         ///< stores doubles in single precision
    static constexpr bool keeps_rows = false;     ///< needs no long rows cut to pieces
    static constexpr int most_shares = 16;        ///< parts that a thread begins with
    static constexpr std::string_view needs = ""; ///< how the name of its instruction sets begins
};

} // namespace spmv
