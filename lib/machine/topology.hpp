#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <thread>
#include <vector>

namespace machine {

/// Equal caches of a machine.
struct CacheLevel
{
    int level;             ///< 1: next to the core
    std::string_view kind; ///< "data", "instruction" or "unified"
    std::size_t bytes;     ///< of one instance
    std::size_t instances;
};

/// What one core sees of the caches for data: bytes of one instance of each.
struct CoreCaches
{
    std::size_t first = std::size_t{32} << 10;  ///< first level; 32 KiB where unknown
    std::size_t core = std::size_t{1} << 20;    ///< second level; 1 MiB where unknown
    std::size_t shared = std::size_t{64} << 20; ///< last level; 64 MiB where unknown
};

/// Cores, memories and caches of a machine. Where nothing tells, it is one socket and one memory,
/// each hardware thread that the system counts is a core, and no cache is known.
struct Topology
{
    int sockets = 1;
    int numa_nodes = 1;               ///< memories that lie nearer to some cores than to others
    std::vector<int> memory_nodes{0}; ///< their numbers in the system
    int hardware_threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    int cores = hardware_threads;
    int threads_per_core = 1;       ///< hardware threads (SMT siblings) of a core at most
    std::vector<CacheLevel> caches; ///< from the first level on; those of equal size together
    CoreCaches core_caches;         ///< of the first core

    /// Whether the machine tells of any cache for data.
    bool last_level_cache_known() const;

    /// Bytes of all caches for data of the last level together; 64 MiB where unknown.
    std::size_t last_level_cache_bytes() const;
};

/// The topology of this machine, less what the process may not use, looked at anew: by hwloc, or
/// without it nothing is known.
Topology detect_topology();

/// The topology of this machine, looked at once.
Topology const& topology();

} // namespace machine
