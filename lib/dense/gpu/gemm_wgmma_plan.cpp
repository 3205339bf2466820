#include "dense/gpu/gemm_wgmma.hpp"

#include "base/ceil_div.hpp"

#include <algorithm>

namespace dense::gpu {

namespace {

using base::ceil_div;

constexpr std::int64_t depth_of_stage = 64;

constexpr std::int64_t row_elements = 64; // of a box, at most
constexpr std::int64_t least_rows = 8;    // that are loaded of a

// Microseconds, fitted to what an H200 took for 1,459 products, nearly all of them drawn. A stage
// is 64 of the depth.
constexpr double launch = 1.8;
constexpr double turn = 0.4;             // first loads and last stores of each
constexpr double store = 4.7e-5;         // an element of a tile, each turn
constexpr double product = 1.8e-5;       // the same, each stage
constexpr double narrow = 1.03;          // so much longer in tiles that each load makes less of
constexpr double shortest_stage = 0.158; // what barriers and latency take
constexpr double waiting = 0.01;         // for blocks that share, each stage
constexpr double meeting = 0.83;         // of a cluster
constexpr double addition = 1.95e-4;     // an element of a tile that a cluster adds up
constexpr double load_of_few_columns = 2.1e-3; // a row of a box, each stage
constexpr double copy = 1.9e-3;                // the same by threads

/// Of a row of a box that the copy engine loads, each stage.
double load(int alignment)
{
    return alignment >= 128 ? 0.99e-3 : alignment >= 32 ? 1.36e-3 : 2.03e-3;
}

/// Whether rows of b are so short that many lie in a line or two, for which all multiprocessors ask
/// again and again.
bool has_few_columns(WgmmaProblem const& problem)
{
    return problem.columns < row_elements && problem.alignment_b < 64;
}

double expected(WgmmaPlan const& plan, WgmmaProblem const& problem)
{
    auto const planned = schedule(plan, problem);
    auto const rest = (planned.units - planned.whole) * plan.shared();
    auto const turns = ceil_div(planned.whole, planned.at_once);
    auto const last_turns = ceil_div(rest, planned.clusters);
    double const area = plan.rows * plan.columns;
    double const products = product * area * (plan.columns < 256 ? narrow : 1);
    // Of the largest tile, without what lies outside.
    auto const rows_of_a =
        std::min<std::int64_t>(plan.rows, ceil_div(problem.rows, least_rows) * least_rows);
    auto const boxes_of_b =
        std::min(ceil_div(plan.columns, row_elements), ceil_div(problem.columns, row_elements));
    double const of_b = plan.copies_b              ? copy
                        : has_few_columns(problem) ? load_of_few_columns
                                                   : load(problem.alignment_b);
    double const loads_a = static_cast<double>(rows_of_a) * load(problem.alignment_a);
    auto const loads_b = [&](std::int64_t boxes) {
        return static_cast<double>(boxes * depth_of_stage) * of_b;
    };
    // Of what blocks share each loads a part of a, and whole boxes of b, which threads copy alone.
    auto const own_boxes = plan.copies_b ? boxes_of_b : ceil_div(boxes_of_b, plan.down);
    double const own_loads = loads_a / plan.across + loads_b(own_boxes);
    auto const stage = [&](double loads) { return std::max({products, loads, shortest_stage}); };
    auto const stages = ceil_div(problem.depth, depth_of_stage);
    double time = launch + static_cast<double>(turns + last_turns) * (turn + store * area);
    time += static_cast<double>(turns * stages) *
            (stage(own_loads) + (plan.shared() > 1 ? waiting : 0));
    if (rest > 0) {
        auto const last_stages = static_cast<double>(ceil_div(stages, plan.cluster));
        double const sums = plan.cluster > 1 ? addition * area : 0;
        time += static_cast<double>(last_turns) *
                (last_stages * stage(loads_a + loads_b(boxes_of_b)) + sums);
    }
    return time + (plan.cluster > 1 ? meeting : 0);
}

} // namespace

std::string WgmmaPlan::text() const
{
    auto const tile = "tiles of " + std::to_string(rows) + " x " + std::to_string(columns);
    auto const divided =
        shared() > 1  ? ", loaded for " + std::to_string(down) + " x " + std::to_string(across)
        : cluster > 1 ? ", depth in " + std::to_string(cluster) + " parts"
                      : "";
    return tile + divided + (copies_b ? ", b copied by threads" : "");
}

WgmmaSchedule schedule(WgmmaPlan const& plan, WgmmaProblem const& problem)
{
    WgmmaSchedule made;
    auto const tiles_down = ceil_div(problem.rows, plan.rows);
    auto const tiles_across = ceil_div(problem.columns, plan.columns);
    std::int64_t const shared = plan.shared();
    made.units = ceil_div(tiles_down, plan.down) * ceil_div(tiles_across, plan.across);
    made.clusters = problem.clusters(plan.cluster);
    made.at_once = made.clusters * plan.cluster / shared;
    // What does not fill a turn is split, if its clusters then fit into one.
    auto const rest = made.units % made.at_once;
    bool const may_split = plan.cluster > 1 && plan.across == 1; // which loads whole boxes of a
    bool const splits = may_split && rest > 0 && rest * shared <= made.clusters;
    bool const splits_all = plan.cluster > 1 && shared == 1 && made.units < made.at_once;
    made.whole = splits_all ? 0 : splits ? made.units - rest : made.units;
    made.blocks = std::max(std::min(made.whole, made.at_once) * shared,
                           (made.units - made.whole) * shared * plan.cluster);
    made.blocks = ceil_div(made.blocks, plan.cluster) * plan.cluster;
    return made;
}

std::vector<WgmmaPlan> wgmma_plans(WgmmaProblem const& problem)
{
    std::vector<WgmmaPlan> plans;
    auto const add = [&](WgmmaPlan plan) {
        bool const can_copy = plan.columns <= row_elements && has_few_columns(problem);
        for (bool const copies : {false, true}) {
            if (!copies || can_copy) {
                plan.copies_b = copies;
                plan.microseconds = expected(plan, problem);
                plans.push_back(plan);
            }
        }
    };
    auto const stages = ceil_div(problem.depth, depth_of_stage);
    for (auto const& [rows, columns] :
         {std::pair{128, 256}, {128, 192}, {128, 128}, {64, 192}, {64, 128}, {64, 64}, {64, 32}}) {
        for (auto const& [down, across] : {std::pair{1, 1}, {2, 1}, {1, 2}, {2, 2}}) {
            if (problem.rows > rows * (down - 1) && problem.columns > columns * (across - 1)) {
                add({rows, columns, down, across, down * across});
            }
        }
        for (int const cluster : {2, 3, 4, 8}) {
            if (stages >= 2 * cluster) {
                add({rows, columns, 1, 1, cluster});
            }
        }
    }
    std::ranges::stable_sort(plans, {}, &WgmmaPlan::microseconds);
    return plans;
}

} // namespace dense::gpu
