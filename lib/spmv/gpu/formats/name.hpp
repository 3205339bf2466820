#pragma once

#include <string_view>

namespace spmv::gpu {

/// A format or kernel that a plan knows.
struct FormatName
{
    std::string_view name;             ///< for `PlanOptions::format`
    std::string_view excerpt;          ///< of its marked kernel, which formats may share
    std::string_view group = "format"; ///< of its variants in experiments
};

} // namespace spmv::gpu
