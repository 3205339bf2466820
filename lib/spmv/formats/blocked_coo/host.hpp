#pragma once

#include "spmv/formats/blocked_coo/blocked_coo.hpp"
#include "spmv/formats/blocked_coo/kernel.hpp"
#include "spmv/formats/host.hpp"
#include "spmv/formats/prefetch.hpp"

#include <cstdint>
#include <tuple>

namespace spmv::formats::blocked_coo {

/// Blocked coordinates; units are strips. Kernels always prefetch.
template <class Index>
struct BlockedCoo : FormatDefaults
{
    static constexpr FormatName name{sizeof(Index) == 1   ? "blocked_coo8"
                                     : sizeof(Index) == 2 ? "blocked_coo16"
                                                          : "blocked_coo32",
                                     "blocked_coo"};
    static constexpr bool keeps_rows = true;
    static constexpr int most_shares = 4; // each strip reads all of `x`

    template <Ahead, class T>
    static constexpr auto* kernel = spmv::blocked_coo<T, Index>;

    template <class T>
    static sparse::BlockedCoo<T, Index> build(sparse::CsrView<T> const& a,
                                              BuildOptions const& options)
    {
        return sparse::to_blocked_coo<T, Index>(
            a, sparse::tile_shape<T, Index>(core_cache_bytes, options.parts()));
    }

    /// But for the headers of tiles.
    template <class T>
    static double bytes(sparse::CsrView<T> const& a, BuildOptions&)
    {
        return static_cast<double>(a.nonzeros() * (sizeof(T) + sizeof(sparse::Place<Index>)));
    }
};

using All =
    std::tuple<BlockedCoo<std::uint32_t>, BlockedCoo<std::uint16_t>, BlockedCoo<std::uint8_t>>;

} // namespace spmv::formats::blocked_coo
