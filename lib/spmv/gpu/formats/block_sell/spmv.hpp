#pragma once

#include "spmv/gpu/formats/block_sell/block_sell.hpp"
#include "spmv/gpu/formats/format.hpp"

namespace spmv::gpu::listed::block_sell {

struct Format : Converted<BlockSell>
{
    static constexpr FormatName name{"block_sell", "block_sell"};

    static double bytes(auto const& s)
    {
        auto const blocks = block_outlook(s.a);
        return blocks.shape.size() == 1 || blocks.shape.rows == 8
                   ? never
                   : blocks.fill * s.a.nonzeros * (s.value_bytes + 4.0 / blocks.shape.size());
    }
};

using All = std::tuple<Format>;

} // namespace spmv::gpu::listed::block_sell
