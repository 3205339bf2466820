#include "spmv/formats/costs.hpp"
#include "spmv/formats/gpu_list.hpp"
#include "spmv/formats/host_list.hpp"
#include "spmv/formats/name.hpp"

#include <tuple>

namespace spmv {

namespace {

template <std::size_t count>
bool has_both(std::span<Costs<count> const> table, std::string_view format)
{
    return costs_of(table, format, 4) != nullptr && costs_of(table, format, 8) != nullptr;
}

} // namespace

std::span<Costs<4> const> host_costs()
{
    static constexpr Costs<4> table[] = {
#include "spmv/formats/costs.inc"
    };
    return table;
}

std::span<Costs<5> const> gpu_costs()
{
    static constexpr Costs<5> table[] = {
#include "spmv/formats/gpu_costs.inc"
    };
    return table;
}

std::vector<FormatName> plan_formats()
{
    std::vector<FormatName> names;
    std::apply([&]<class... Format>(
                   Format...) { ((Format::rounds ? void() : names.push_back(Format::name)), ...); },
               Formats{});
    return names;
}

bool has_costs(std::string_view format)
{
    return has_both(host_costs(), format);
}

namespace gpu {

std::vector<FormatName> plan_formats()
{
    return std::apply([](auto... format) { return std::vector{format.name...}; }, Formats{});
}

bool has_costs(std::string_view format)
{
    return has_both(gpu_costs(), format);
}

} // namespace gpu

} // namespace spmv
