#pragma once

#include "spmv/gpu/formats/format.hpp"
#include "spmv/gpu/formats/row_tiles/row_tiles.hpp"

namespace spmv::gpu::listed::row_tiles {

template <TileSize size>
struct Format : OnCsr<RowTiles, size>
{
    static constexpr FormatName name{size == TileSize::usual   ? "row_tiles"
                                     : size == TileSize::large ? "large_tiles"
                                                               : "small_tiles",
                                     "row_tiles", "csr"};
};

using All = std::tuple<Format<TileSize::usual>, Format<TileSize::large>, Format<TileSize::small>>;

} // namespace spmv::gpu::listed::row_tiles
