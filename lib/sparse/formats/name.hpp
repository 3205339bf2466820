#pragma once

#include <string_view>

namespace spmv {

/// A format that a plan knows.
struct FormatName
{
    std::string_view name;    ///< for `PlanOptions::format`
    std::string_view excerpt; ///< of its marked kernel, which formats may share
};

} // namespace spmv
