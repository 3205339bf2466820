#include "base/output.hpp"
#include "base/program.hpp"
#include "bench/environment.hpp"
#include "spmv/gpu/plan.hpp"
#include "spmv/plan.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>

namespace {

void print_format(std::string_view where, std::string_view name, bool has_costs)
{
    base::print(
        fmt::format("{}{}{}\n", where, name, has_costs ? "" : ": no costs, no candidate of plans"));
}

} // namespace

/// Prints the `machine` object of a result file: what this machine is, and the name of its folder;
/// with `--formats` the list of sparse formats, on the host and on GPUs.
int main(int argc, char** argv)
{
    return base::program("machine", [&] {
        if (argc == 1) {
            base::print(bench::machine_record().dump(2) + "\n");
            return 0;
        }
        if (argc > 2 || std::string_view{argv[1]} != "--formats") {
            throw std::invalid_argument{
                fmt::format("found '{}', expected --formats or nothing", argv[argc - 1])};
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
