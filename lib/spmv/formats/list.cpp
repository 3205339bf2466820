#include "base/output.hpp"
#include "base/program.hpp"
#include "spmv/formats/name.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace {

void print_format(std::string_view where, std::string_view name, bool has_costs)
{
    base::print(
        fmt::format("{}{}{}\n", where, name, has_costs ? "" : ": no costs, no candidate of plans"));
}

} // namespace

/// Prints the list of sparse formats, on the host and on GPUs.
int main(int argc, char** argv)
{
    return base::program("list", [&] {
        if (argc > 1) {
            throw std::invalid_argument{fmt::format("found '{}', expected nothing", argv[1])};
        }
        for (auto const& format : spmv::plan_formats()) {
            print_format("", format.name, spmv::has_costs(format.name));
        }
        for (auto const& format : spmv::gpu::plan_formats()) {
            print_format("GPU ", format.name, spmv::gpu::has_costs(format.name));
        }
        return 0;
    });
}
