#pragma once

#include "partitioners.hpp"
#include "product.hpp"

#include <string>

/// Halo exchanges: each rank asks for the elements of `x` that its rows need.
namespace partitioning {

/// How ghosts come.
struct Exchange
{
    std::string group;
    std::string excerpt;
    bool overlaps = true; ///< else all ranks wait for ghosts first
    distributed::OnHost on_host = distributed::OnHost::memory;
};

inline Exchange const overlapped{"halo", "halo"};
inline Exchange const awaited{"wait", "wait", false};
inline Exchange const in_messages{"messages", "ghosts", true, distributed::OnHost::messages};

/// Adds a variant of a halo exchange. `T` is float or double.
template <class T>
void add_halo(bench::Trial& trial, Product<T>& product, Partitioner const& way,
              Exchange const& exchange = overlapped);

} // namespace partitioning
