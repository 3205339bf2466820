#pragma once

#include <string_view>
#include <vector>

/// \file
/// What can be told of formats without building one, and of those for GPUs without nvcc.

namespace spmv {

/// A format that a plan knows; on a GPU also a kernel that reads CSR as it is.
struct FormatName
{
    std::string_view name;             ///< for `PlanOptions::format`
    std::string_view excerpt;          ///< of its marked kernel, which formats may share
    std::string_view group = "format"; ///< of its variants in experiments
};

/// All formats that a plan knows.
std::vector<FormatName> plan_formats();

/// Whether a format has costs in both precisions: without, a plan builds it only if it is asked to.
bool has_costs(std::string_view format);

namespace gpu {

/// All formats and kernels that a plan for GPUs knows.
std::vector<FormatName> plan_formats();

/// As `spmv::has_costs`.
bool has_costs(std::string_view format);

} // namespace gpu

} // namespace spmv
