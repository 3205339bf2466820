#include "machine/topology.hpp"

/// Where there is no hwloc.
machine::Topology machine::detect_topology()
{
    return {};
}
