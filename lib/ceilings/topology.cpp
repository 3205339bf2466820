#include "ceilings/topology.hpp"

#include <hwloc.h>

#include <memory>
#include <stdexcept>

namespace ceilings {

namespace {

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

Topology this_machine()
{
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0) {
        throw std::runtime_error{"hwloc cannot be initialised"};
    }
    Topology owner{topology, hwloc_topology_destroy};
    if (hwloc_topology_load(topology) != 0) {
        throw std::runtime_error{"hwloc cannot read this machine's topology"};
    }
    return owner;
}

} // namespace

std::size_t last_level_cache_bytes()
{
    std::size_t constexpr assumed = std::size_t{64} << 20;
    auto const machine = this_machine();
    for (auto const level : {HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE,
                             HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE}) {
        std::size_t bytes = 0;
        for (hwloc_obj_t cache = nullptr;
             (cache = hwloc_get_next_obj_by_type(machine.get(), level, cache)) != nullptr;) {
            bytes += cache->attr->cache.size;
        }
        if (bytes > 0) {
            return bytes;
        }
    }
    return assumed;
}

} // namespace ceilings
