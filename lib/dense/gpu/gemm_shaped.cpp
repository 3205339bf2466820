#include "dense/gpu/gemm_shaped.hpp"

#include "base/ceil_div.hpp"

#include <algorithm>

namespace dense::gpu {

namespace {

using base::ceil_div;

/// What is known of a tile: the depth of its stages, how many of its blocks share a multiprocessor,
/// and which part of the device's arithmetic it then reaches.
struct Tile
{
    int rows, columns, depth;
    int blocks;
    double efficiency;
};

constexpr Tile tiles[]{
    {128, 256, 16, 1, 0.755}, {64, 128, 16, 2, 0.778}, {64, 64, 32, 2, 0.665},
    {64, 96, 16, 2, 0.674},   {64, 48, 32, 2, 0.631},  {64, 32, 32, 2, 0.618},
    {32, 128, 32, 2, 0.684},  {32, 64, 32, 2, 0.671},  {32, 32, 32, 3, 0.492},
    {16, 128, 32, 2, 0.594},  {8, 128, 32, 3, 0.493},  {4, 128, 32, 3, 0.359},
    {128, 16, 32, 2, 0.422},  {128, 8, 32, 3, 0.304},
};

constexpr int largest_cluster = 8;

// Microseconds.
constexpr double product = 1 / (128 * 1980.); // an element of a tile, each step of the depth
constexpr double single = 1.9e-5; // a copy of one element of b, where there are no packs
constexpr double alone = 1.23;    // times as long takes a block that has no other one beside it
constexpr double launch = 0.96;
constexpr double turn = 1.2;        // as many blocks as fit, until the first stage is there
constexpr double store = 2.3e-4;    // an element of a tile
constexpr double meeting = 1.4;     // of a cluster
constexpr double transfer = 1.4e-6; // an element of an operand or of the result, to memory

double expected(Tile const& tile, int cluster, ShapedProblem const& problem)
{
    auto const count = ceil_div(problem.rows, tile.rows) * ceil_div(problem.columns, tile.columns);
    auto const layers = ceil_div(count, problem.clusters(cluster)); // blocks of a multiprocessor
    auto const steps = static_cast<double>(ceil_div(ceil_div(problem.depth, tile.depth), cluster));
    double const area = tile.rows * tile.columns;
    double const stage = tile.depth * (area * product / tile.efficiency +
                                       (problem.packs ? 0 : tile.columns * single));
    auto const rest = layers % tile.blocks; // of the last turn
    double const stages =
        static_cast<double>(layers) + (rest == 1 && tile.blocks > 1 ? alone - 1 : 0);
    double const blocks = steps * stage * stages +
                          static_cast<double>(layers) * area * store / cluster +
                          static_cast<double>(ceil_div(layers, tile.blocks)) * turn;
    auto const elements =
        static_cast<double>(problem.rows * problem.depth + problem.depth * problem.columns +
                            problem.rows * problem.columns);
    return launch + (cluster > 1 ? meeting : 0) + std::max(blocks, elements * transfer);
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
