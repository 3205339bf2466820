#include "machine/topology.hpp"

#ifdef HAS_HWLOC
#include <hwloc.h>

#include <memory>
#endif

namespace machine {

#ifdef HAS_HWLOC

namespace {

using Handle = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

std::vector<hwloc_obj_t> objects(Handle const& machine, hwloc_obj_type_t type)
{
    std::vector<hwloc_obj_t> all;
    for (hwloc_obj_t object = nullptr;
         (object = hwloc_get_next_obj_by_type(machine.get(), type, object)) != nullptr;) {
        all.push_back(object);
    }
    return all;
}

std::string_view kind(hwloc_obj_t cache)
{
    auto const type = cache->attr->cache.type;
    return type == HWLOC_OBJ_CACHE_DATA          ? "data"
           : type == HWLOC_OBJ_CACHE_INSTRUCTION ? "instruction"
                                                 : "unified";
}

std::vector<CacheLevel> caches(Handle const& machine)
{
    std::vector<CacheLevel> list;
    for (auto const type : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L1ICACHE, HWLOC_OBJ_L2CACHE,
                            HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE}) {
        for (auto const object : objects(machine, type)) {
            auto const level = static_cast<int>(object->attr->cache.depth);
            auto const bytes = std::size_t{object->attr->cache.size};
            auto const equal = std::ranges::find_if(list, [&](CacheLevel const& other) {
                return other.level == level && other.kind == kind(object) && other.bytes == bytes;
            });
            if (equal != list.end()) {
                ++equal->instances;
            } else if (bytes > 0) {
                list.push_back({level, kind(object), bytes, 1});
            }
        }
    }
    return list;
}

/// Those of the first hardware thread.
CoreCaches core_caches(Handle const& machine)
{
    CoreCaches found;
    for (auto object = hwloc_get_obj_by_type(machine.get(), HWLOC_OBJ_PU, 0); object != nullptr;
         object = object->parent) { // from the nearest cache to the farthest
        if (hwloc_obj_type_is_dcache(object->type) != 0 && object->attr->cache.size > 0) {
            auto const& cache = object->attr->cache;
            (cache.depth == 1 ? found.first : found.shared) = cache.size;
            found.core = cache.depth == 2 ? cache.size : found.core;
        }
    }
    return found;
}

/// The NUMA nodes that have memory: a socket without, or a GPU that shows its own, may have none.
std::vector<int> memory_nodes(Handle const& machine)
{
    std::vector<int> nodes;
    for (auto const node : objects(machine, HWLOC_OBJ_NUMANODE)) {
        if (node->attr->numanode.local_memory > 0) {
            nodes.push_back(static_cast<int>(node->os_index));
        }
    }
    return nodes;
}

} // namespace

Topology detect_topology()
{
    Topology found;
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0) {
        return found;
    }
    Handle const machine{topology, hwloc_topology_destroy};
    hwloc_topology_set_icache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(topology) != 0) {
        return found;
    }
    auto const count = [=](hwloc_obj_type_t type, int if_none) {
        int const there = hwloc_get_nbobjs_by_type(topology, type);
        return there > 0 ? there : if_none;
    };
    found.sockets = count(HWLOC_OBJ_PACKAGE, 1);
    if (auto const nodes = memory_nodes(machine); !nodes.empty()) {
        found.memory_nodes = nodes;
        found.numa_nodes = static_cast<int>(nodes.size());
    }
    found.hardware_threads = count(HWLOC_OBJ_PU, found.hardware_threads);
    found.cores = count(HWLOC_OBJ_CORE, found.hardware_threads);
    for (auto const core : objects(machine, HWLOC_OBJ_CORE)) {
        found.threads_per_core =
            std::max(found.threads_per_core, hwloc_bitmap_weight(core->cpuset));
    }
    found.caches = caches(machine);
    found.core_caches = core_caches(machine);
    return found;
}

#else

Topology detect_topology()
{
    return {};
}

#endif

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
