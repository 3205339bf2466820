#include "machine/topology.hpp"

namespace machine {

bool Topology::last_level_cache_known() const
{
    return std::ranges::any_of(caches, [](auto const& it) { return it.kind != "instruction"; });
}

std::size_t Topology::last_level_cache_bytes() const
{
    if (!last_level_cache_known()) {
        return CoreCaches{}.shared;
    }
    int last = 0;
    std::size_t bytes = 0;
    for (auto const& cache : caches) {
        if (cache.kind != "instruction") {
            bytes = (cache.level == last ? bytes : 0) + cache.bytes * cache.instances;
            last = cache.level;
        }
    }
    return bytes;
}

Topology const& topology()
{
    static Topology const found = detect_topology();
    return found;
}

} // namespace machine
