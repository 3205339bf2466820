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

std::vector<FormatName> plan_formats()
{
    return std::apply([](auto... format) { return std::vector{format.name...}; }, Formats{});
}

bool has_costs(std::string_view format)
{
    return costs_of(gpu_costs(), format, 4) != nullptr &&
           costs_of(gpu_costs(), format, 8) != nullptr;
}

} // namespace gpu

} // namespace spmv
