#include "machine/topology.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <vector>

namespace {

using machine::Topology;

bool lists(Topology const& topology, std::size_t bytes)
{
    return std::ranges::find(topology.caches, bytes, &machine::CacheLevel::bytes) !=
           topology.caches.end();
}

void check_consistent(Topology const& topology)
{
    CHECK(topology.sockets >= 1);
    CHECK(topology.numa_nodes == std::ssize(topology.memory_nodes));
    CHECK(topology.numa_nodes >= 1);
    CHECK(topology.cores >= topology.sockets);
    CHECK(topology.hardware_threads >= topology.cores);
    CHECK(topology.threads_per_core >= 1);
    CHECK(topology.threads_per_core * topology.cores >= topology.hardware_threads);
    for (auto const& cache : topology.caches) {
        CHECK(cache.level >= 1);
        CHECK(cache.bytes > 0);
        CHECK(cache.instances >= 1);
    }
    CHECK(std::ranges::is_sorted(topology.caches, {}, &machine::CacheLevel::level));
    auto const& core = topology.core_caches;
    CHECK((lists(topology, core.first) || core.first == 32 << 10));
    CHECK((lists(topology, core.core) || core.core == 1 << 20));
    CHECK((lists(topology, core.shared) || core.shared == 64 << 20));
    if (topology.last_level_cache_known() && lists(topology, core.shared)) {
        CHECK(topology.last_level_cache_bytes() >= core.shared);
    }
}

void check_unknown(Topology const& topology)
{
    check_consistent(topology);
    CHECK(topology.caches.empty());
    CHECK_FALSE(topology.last_level_cache_known());
    CHECK(topology.last_level_cache_bytes() == 64 << 20);
    CHECK(topology.core_caches.first == 32 << 10);
    CHECK(topology.core_caches.core == 1 << 20);
    CHECK(topology.core_caches.shared == 64 << 20);
    CHECK(topology.cores == topology.hardware_threads);
}

} // namespace

TEST_CASE("what is known of this machine fits together")
{
    check_consistent(machine::topology());
    CHECK(&machine::topology() == &machine::topology());
}

TEST_CASE("the last level is all its caches for data")
{
    Topology topology;
    check_unknown(topology);
    topology.caches = {{1, "data", 48 << 10, 24},
                       {1, "instruction", 32 << 10, 24},
                       {2, "unified", 1 << 20, 24},
                       {3, "unified", 16 << 20, 2},
                       {3, "unified", 8 << 20, 1}};
    CHECK(topology.last_level_cache_known());
    CHECK(topology.last_level_cache_bytes() == 40 << 20);
    topology.caches.resize(2);
    CHECK(topology.last_level_cache_bytes() == 24 * (48 << 10));
    topology.caches.erase(topology.caches.begin());
    CHECK_FALSE(topology.last_level_cache_known());
}

#ifdef HAS_HWLOC
TEST_CASE("NUMA nodes without memory are none")
{
    setenv("HWLOC_SYNTHETIC", "pack:2 [numa(memory=1GB)] [numa(memory=0)] core:2 pu:1", 1);
    auto const topology = machine::detect_topology();
    unsetenv("HWLOC_SYNTHETIC");
    check_consistent(topology);
    CHECK(topology.sockets == 2);
    CHECK(topology.memory_nodes == std::vector{0, 2});
}
#endif

TEST_CASE("a machine without /sys, as in some chroots, is no error")
{
    auto const empty = std::filesystem::temp_directory_path() / "memwall-topology-test";
    std::filesystem::create_directories(empty);
    setenv("HWLOC_HIDE_ERRORS", "2", 1);
    setenv("HWLOC_FSROOT", empty.c_str(), 1);
    check_consistent(machine::detect_topology());
    setenv("HWLOC_COMPONENTS", "no_os,stop", 1); // nor asks it the processors
    check_unknown(machine::detect_topology());
    std::filesystem::remove(empty);
}
