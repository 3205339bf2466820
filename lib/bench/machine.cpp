#include "bench/environment.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>

/// Prints the `machine` object of a result file: what this machine is, and the name of its folder.
int main()
try {
    fmt::print("{}\n", bench::machine_record().dump(2));
    return 0;
} catch (std::exception const& error) {
    fmt::print(stderr, "machine: {}\n", error.what());
    return 2;
}
