#include "dense/gpu/gemm_wgmma.hpp"

#include "base/ceil_div.hpp"

#include <algorithm>

namespace dense::gpu {

namespace {

using base::ceil_div;

constexpr std::int64_t depth_of_stage = 64;

// Microseconds, fitted to what an H200 took. A stage is 64 of the depth.
constexpr double product = 1.99e-5;        // an element of a tile, each stage
constexpr double narrow = 1.08;            // so much longer in tiles that each load makes less of
constexpr double shortest_stage = 0.13;    // what barriers and latency take
constexpr double turn = 1.92;              // first loads, last stores, and what is left of a launch
constexpr double store = 1.53 / 32'768;    // an element of a tile, each turn
constexpr double meeting = 1.17;           // of a cluster
constexpr double addition = 4.92 / 32'768; // an element of a tile that a cluster adds up

/// Of 128 bytes that the copy engine loads, each stage.
double load(int alignment)
{
    return alignment == 128 ? 1.0e-3 : alignment >= 32 ? 1.5e-3 : 2.25e-3;
}

double expected(WgmmaPlan const& plan, WgmmaProblem const& problem)
{
    auto const planned = schedule(plan, problem);
    int const high = plan.pairs ? 2 : 1;
    auto const rest = (planned.units - planned.whole) * high;
    auto const turns = ceil_div(planned.whole, planned.at_once);
    auto const last_turns = ceil_div(rest, planned.clusters);
    double const area = plan.rows * plan.columns;
    double const products = product * area * (plan.columns < 256 ? narrow : 1);
    double const loads_a = plan.rows * load(problem.alignment_a);
    double const loads_b = ceil_div(plan.columns, 64) * 64 * load(problem.alignment_b);
    auto const stage = [&](double loads) { return std::max({products, loads, shortest_stage}); };
    auto const stages = ceil_div(problem.depth, depth_of_stage);
    double time = static_cast<double>(turns + last_turns) * (turn + store * area);
    time += static_cast<double>(turns * stages) * stage(loads_a + loads_b / high);
    if (rest > 0) {
        time += static_cast<double>(last_turns * ceil_div(stages, plan.cluster)) *
                stage(loads_a + loads_b);
        time += addition * area / plan.cluster;
    }
    return time + (plan.cluster > 1 ? meeting : 0);
}

} // namespace

std::string WgmmaPlan::text() const
{
    auto const tile = "tiles of " + std::to_string(rows) + " x " + std::to_string(columns);
    return pairs         ? tile + " in pairs"
           : cluster > 1 ? tile + ", depth in " + std::to_string(cluster) + " parts"
                         : tile;
}

WgmmaSchedule schedule(WgmmaPlan const& plan, WgmmaProblem const& problem)
{
    std::int64_t const high = plan.pairs ? 2 : 1;
    WgmmaSchedule made;
    made.units =
        ceil_div(ceil_div(problem.rows, plan.rows), high) * ceil_div(problem.columns, plan.columns);
    made.clusters = problem.clusters(plan.cluster);
    made.at_once = made.clusters * plan.cluster / high;
    // What does not fill a turn is split, if its clusters then fit into one.
    auto const rest = made.units % made.at_once;
    bool const splits = plan.cluster > 1 && rest > 0 && rest * high <= made.clusters;
    bool const splits_all = plan.cluster > 1 && !plan.pairs && made.units < made.at_once;
    made.whole = splits_all ? 0 : splits ? made.units - rest : made.units;
    made.blocks = std::max(std::min(made.whole, made.at_once) * high,
                           (made.units - made.whole) * high * plan.cluster);
    made.blocks = ceil_div(made.blocks, plan.cluster) * plan.cluster;
    return made;
}

std::vector<WgmmaPlan> wgmma_plans(WgmmaProblem const& problem)
{
    std::vector<WgmmaPlan> plans;
    auto const add = [&](WgmmaPlan plan) {
        plan.microseconds = expected(plan, problem);
        plans.push_back(plan);
    };
    auto const stages = ceil_div(problem.depth, depth_of_stage);
    for (auto const& [rows, columns] :
         {std::pair{128, 256}, {128, 192}, {128, 128}, {64, 128}, {64, 64}, {64, 32}}) {
        add({rows, columns});
        if (rows == 128 && problem.rows > rows) {
            add({rows, columns, true, 2});
        }
        for (int const cluster : {2, 3, 4, 8}) {
            if (stages >= 2 * cluster) {
                add({rows, columns, false, cluster});
            }
        }
    }
    std::ranges::stable_sort(plans, {}, &WgmmaPlan::microseconds);
    return plans;
}

} // namespace dense::gpu
