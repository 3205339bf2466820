#include "base/output.hpp"
#include "base/program.hpp"
#include "bench/environment.hpp"

#include <fmt/format.h>

#include <stdexcept>

/// Prints the `machine` object of a result file: what this machine is, and the name of its folder.
int main(int argc, char** argv)
{
    return base::program("machine", [&] {
        if (argc > 1) {
            throw std::invalid_argument{fmt::format("found '{}', expected nothing", argv[1])};
        }
        base::print(bench::machine_record().dump(2) + "\n");
        return 0;
    });
}
