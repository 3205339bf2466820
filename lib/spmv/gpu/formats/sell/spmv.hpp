#pragma once

#include "spmv/gpu/formats/format.hpp"

namespace spmv::gpu::listed::sell {

template <bool narrow>
struct Format : Converted<Sell, narrow>
{
    static constexpr FormatName name{narrow ? "sell16" : "sell32", "gpu_sell"};

    static double bytes(auto const& s)
    {
        auto const in_order = static_cast<double>(s.sell.elements);
        bool const sorts = in_order > 1.1 * s.a.nonzeros;
        double const elements = sorts ? 1.03 * s.a.nonzeros : in_order;
        if (narrow) {
            return s.sell.is_narrow && !sorts ? elements * (2 + s.value_bytes) : never;
        }
        return elements * (4 + s.value_bytes) + (sorts ? 4.0 * s.a.rows : 0);
    }
};

using All = std::tuple<Format<false>, Format<true>>;

} // namespace spmv::gpu::listed::sell
