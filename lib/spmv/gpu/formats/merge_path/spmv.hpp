#pragma once

#include "spmv/gpu/formats/format.hpp"
#include "spmv/gpu/formats/merge_path/merge_path.hpp"

namespace spmv::gpu::listed::merge_path {

struct Format : OnCsr<MergePath>
{
    static constexpr FormatName name{"merge_path", "gpu_merge_path", "csr"};
};

using All = std::tuple<Format>;

} // namespace spmv::gpu::listed::merge_path
