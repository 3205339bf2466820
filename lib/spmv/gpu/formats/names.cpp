#include "spmv/gpu/formats/list.hpp"
#include "spmv/gpu/plan.hpp"
#include "spmv/plan/costs.hpp"

// Compiled without nvcc too: what a plan knows can be told where it cannot be made.

namespace spmv {

std::span<Costs<5> const> gpu_costs()
{
    static constexpr Costs<5> table[] = {
#include "spmv/plan/gpu_costs.inc"
    };
    return table;
}

namespace gpu {

namespace {

template <class... Format>
std::vector<FormatName> names_of(std::tuple<Format...> const*)
{
    return {Format::name...};
}

} // namespace

std::vector<FormatName> plan_formats()
{
    return names_of(static_cast<Formats const*>(nullptr));
}

bool has_costs(std::string_view format)
{
    return costs_of(gpu_costs(), format, 4) != nullptr &&
           costs_of(gpu_costs(), format, 8) != nullptr;
}

} // namespace gpu

} // namespace spmv
