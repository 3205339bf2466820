#include "dense/gpu/gemm_shaped.hpp"

#include <algorithm>

namespace dense::gpu {

namespace {

/// What is known of a tile: the depth of its stages, how many of its blocks keep a multiprocessor
/// busy, and then the part of its arithmetic that it reaches.
struct Tile
{
    int rows, columns, depth;
    int blocks;
    double efficiency;
};

/// The first two as an H200 measured them at 4096, the others after the instructions of their inner
/// loops, by the ratio of these two.
constexpr Tile tiles[]{
    {128, 256, 16, 1, 0.80}, {64, 128, 16, 2, 0.76}, {64, 64, 32, 2, 0.76},  {64, 96, 16, 2, 0.74},
    {64, 48, 32, 2, 0.74},   {64, 32, 32, 2, 0.71},  {32, 128, 32, 2, 0.76}, {32, 64, 32, 2, 0.72},
    {32, 32, 32, 3, 0.63},   {16, 128, 32, 2, 0.69}, {8, 128, 32, 3, 0.55},  {4, 128, 32, 3, 0.40},
    {128, 16, 32, 2, 0.62},  {128, 8, 32, 3, 0.45},
};

std::int64_t ceil_div(std::int64_t count, std::int64_t size)
{
    return (count + size - 1) / size;
}

constexpr int largest_cluster = 8;

// Microseconds: estimates from single products on an H200, not fitted to many shapes.
constexpr double product = 1 / (128 * 1980.); // an element of a tile, each step of the depth
constexpr double launch = 2;                  // until the first stage is there, and the last stores
constexpr double store = 5e-5;                // an element of a tile
constexpr double meeting = 1.2;               // of a cluster
constexpr double transfer = 4 / 4.0e6;        // an element of an operand or of the result
constexpr double alone = 0.6; // of the speed that a block has where it needs others beside it

double expected(Tile const& tile, int cluster, ShapedProblem const& problem)
{
    auto const count = ceil_div(problem.rows, tile.rows) * ceil_div(problem.columns, tile.columns);
    auto const layers = ceil_div(count, problem.clusters(cluster)); // blocks of a multiprocessor
    auto const steps = ceil_div(ceil_div(problem.depth, tile.depth), cluster) * tile.depth;
    double const area = tile.rows * tile.columns;
    double const busy =
        layers >= tile.blocks
            ? 1
            : alone + (1 - alone) * static_cast<double>(layers - 1) / std::max(1, tile.blocks - 1);
    double const arithmetic = static_cast<double>(layers) * area * static_cast<double>(steps) *
                              product / (tile.efficiency * busy);
    double const stores = static_cast<double>(layers) * area * store;
    auto const elements =
        static_cast<double>(problem.rows * problem.depth + problem.depth * problem.columns +
                            problem.rows * problem.columns);
    return launch + (cluster > 1 ? meeting : 0) +
           std::max(arithmetic + stores, elements * transfer);
}

} // namespace

std::string ShapedPlan::text() const
{
    auto const tile = "tiles of " + std::to_string(rows) + " x " + std::to_string(columns);
    return cluster > 1 ? tile + ", depth in " + std::to_string(cluster) + " parts" : tile;
}

std::vector<ShapedPlan> shaped_plans(ShapedProblem const& problem)
{
    std::vector<ShapedPlan> plans;
    for (auto const& tile : tiles) {
        for (int cluster = 1; cluster <= largest_cluster; ++cluster) {
            if (cluster == 1 || problem.depth >= std::int64_t{2} * cluster * tile.depth) {
                plans.push_back(
                    {tile.rows, tile.columns, cluster, expected(tile, cluster, problem)});
            }
        }
    }
    std::ranges::stable_sort(plans, {}, &ShapedPlan::microseconds);
    return plans;
}

} // namespace dense::gpu
