#include "ceilings/topology.hpp"

#include <hwloc.h>

#include <algorithm>
#include <memory>

namespace ceilings {

namespace {

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

/// This machine as far as hwloc can see it; null where it sees nothing.
Topology this_machine()
{
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0) {
        return {nullptr, hwloc_topology_destroy};
    }
    Topology owner{topology, hwloc_topology_destroy};
    if (hwloc_topology_load(topology) != 0) {
        owner.reset();
    }
    return owner;
}

/// Bytes of all caches of one level together.
std::size_t total(Topology const& machine, hwloc_obj_type_t level)
{
    std::size_t bytes = 0;
    for (hwloc_obj_t cache = nullptr;
         (cache = hwloc_get_next_obj_by_type(machine.get(), level, cache)) != nullptr;) {
        bytes += cache->attr->cache.size;
    }
    return bytes;
}

} // namespace

std::size_t last_level_cache_bytes()
{
    if (auto const machine = this_machine()) {
        for (auto const level : {HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE,
                                 HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE}) {
            if (auto const bytes = total(machine, level); bytes > 0) {
                return bytes;
            }
        }
    }
    return std::size_t{64} << 20;
}

int numa_nodes()
{
    auto const machine = this_machine();
    return machine ? std::max(1, hwloc_get_nbobjs_by_type(machine.get(), HWLOC_OBJ_NUMANODE)) : 1;
}

} // namespace ceilings
