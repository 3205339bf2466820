#include "mpi/ranks.hpp"

#include <memory>

namespace mpi {

Ranks::Ranks(int& argc, char**& argv)
    : environment_{argc, argv}, clock_{std::make_unique<bench::HostClock>()}
{
}

void Ranks::flush()
{
    if (!flush_) {
        flush_.emplace(cache_bytes() / static_cast<std::size_t>(world_.size()));
    }
    (*flush_)();
}

} // namespace mpi
