#pragma once

#include "spmv/gpu/formats/format.hpp"
#include "spmv/gpu/formats/rows/rows.hpp"

namespace spmv::gpu::listed::rows {

/// Of the kernels of rows a plan knows one.
template <int lanes>
struct Format : OnCsr<VectorEarly, lanes>
{
    static constexpr FormatName name{lanes == 2    ? "vector_early2"
                                     : lanes == 4  ? "vector_early4"
                                     : lanes == 8  ? "vector_early8"
                                     : lanes == 16 ? "vector_early16"
                                                   : "vector_early32",
                                     "vector_early", "early"};
};

using All = std::tuple<Format<2>, Format<4>, Format<8>, Format<16>, Format<32>>;

} // namespace spmv::gpu::listed::rows
