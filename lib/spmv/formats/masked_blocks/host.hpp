#pragma once

#include "spmv/formats/host.hpp"
#include "spmv/formats/masked_blocks/kernel.hpp"
#include "spmv/formats/masked_blocks/masked_blocks.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace spmv::formats::masked_blocks {

/// Windows of groups of so many rows as store fewest bytes, with masks; units are groups.
struct MaskedBlocks : FormatDefaults
{
    static constexpr FormatName name{"masked_blocks", "masked_blocks"};
    static constexpr std::string_view needs = "avx512"; // others take the bits one by one

    template <Ahead ahead, class T>
    static constexpr auto* kernel = spmv::masked_blocks<of_matrix(ahead), T>;

    template <class T>
    static sparse::MaskedBlocks<T> build(sparse::CsrView<T> const& a, BuildOptions const& options)
    {
        return sparse::to_masked_blocks<T>(a, options.block_rows);
    }

    template <class T>
    static double bytes(sparse::CsrView<T> const& a, BuildOptions& options)
    {
        double least = std::numeric_limits<double>::max();
        for (std::int32_t const rows : {6, 4, 3, 2, 1}) {
            auto const windows = static_cast<double>(sparse::window_count<T>(a, rows));
            double const bytes =
                windows * (4 + rows * sizeof(sparse::WindowMask<T>)) + 4.0 * a.rows / rows;
            if (bytes < least) {
                least = bytes;
                options.block_rows = rows;
            }
            if (3 * windows > static_cast<double>(a.nonzeros())) {
                options.block_rows = 1; // hopeless: lower windows hold still fewer nonzeros
                break;
            }
        }
        return least + static_cast<double>(a.nonzeros() * sizeof(T));
    }
};

using All = std::tuple<MaskedBlocks>;

} // namespace spmv::formats::masked_blocks
