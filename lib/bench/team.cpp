#include "bench/team.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace bench {

int Team::failed(std::string const& reason)
{
    fmt::print(stderr, "{}\n", reason);
    return 2;
}

} // namespace bench
