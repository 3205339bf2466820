#include "bench/environment.hpp"
#include "spmv/plan.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string_view>

/// Prints the `machine` object of a result file: what this machine is, and the name of its folder;
/// with `--formats` the list of sparse formats.
int main(int argc, char** argv)
try {
    if (argc == 1) {
        fmt::print("{}\n", bench::machine_record().dump(2));
        return 0;
    }
    if (argc > 2 || std::string_view{argv[1]} != "--formats") {
        throw std::invalid_argument{
            fmt::format("found '{}', expected --formats or nothing", argv[argc - 1])};
    }
    for (auto const& format : spmv::plan_formats()) {
        fmt::print("{}{}\n", format.name,
                   spmv::has_costs(format.name) ? "" : ": no costs, no candidate of plans");
    }
    return 0;
} catch (std::exception const& error) {
    fmt::print(stderr, "machine: {}\n", error.what());
    return 2;
}
