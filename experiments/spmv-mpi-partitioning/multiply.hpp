#pragma once

#include "partitioners.hpp"
#include "product.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

/// A variant of a distributed product: rows dealt out in a way, and what multiplies them.
namespace partitioning {

/// Cuts the matrix on rank 0 and tells all ranks; rows that each made for itself stay with it.
template <class T>
distributed::Partition cut(Product<T> const& product, Partitioner const& way)
{
    if (product.is_made_by_ranks) {
        return product.equal;
    }
    auto const& world = product.world;
    auto const partition =
        world.is_root() ? way.cut(product.whole, world.size()) : distributed::Partition{};
    return distributed::broadcast(world, partition);
}

/// Why a variant is not measured here; empty if it is. One rank has all rows of a matrix, however
/// they are cut: of what is the same there, one is measured for curves over ranks to begin with,
/// and in double precision the partitions for other numbers of ranks are studied.
template <class T>
std::string why_not(Product<T> const& product, Partitioner const& way, std::string_view name,
                    std::string const& missing)
{
    if (way.name == by_graph.name && distributed::graph_partitioner().empty()) {
        return "no graph partitioner when this was built; Debian: apt install libmetis-dev";
    }
    if (way.name == by_graph.name && !product.is_square()) {
        return "a graph partition needs a square matrix";
    }
    constexpr std::string_view measured[] = {
        "openmp",           "openmp_plan",     "everywhere_alternate",
        "gather_alternate", "halo_bottleneck", "halo_graph"};
    bool const is_alone = product.world.size() == 1 && !product.is_made_by_ranks;
    bool const is_measured = !is_alone ||
                             (std::is_same_v<T, double> && name.starts_with("halo_")) ||
                             std::ranges::find(measured, name) != std::end(measured);
    return !missing.empty() || is_measured ? missing
                                           : "one rank has all rows, however they are cut";
}

/// Adds a variant that calls `multiply(matrix, share)` with what `make(variant, share)` has built
/// of rows dealt out in a way; skipped if something is `missing` for it.
template <class T, class Make, class Multiply>
void add_multiply(bench::Trial& trial, Product<T>& product, std::string const& name,
                  std::string const& group, Partitioner const& way, std::string const& missing,
                  Make make, Multiply multiply, std::string const& excerpt = "")
{
    if (auto const reason = why_not(product, way, name, missing); !reason.empty()) {
        trial.skip(name, reason).group(group);
        return;
    }
    auto const prepare = [=, &product](bench::Variant& variant) {
        auto const share = product.share(cut(product, way), variant);
        auto const matrix = make(variant, *share);
        return [=] { multiply(*matrix, *share); };
    };
    trial.add(name, prepare).group(group).excerpt(excerpt.empty() ? group : excerpt);
}

} // namespace partitioning
