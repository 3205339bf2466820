#include "dense/gpu/gemm_choice.hpp"

#include "base/ceil_div.hpp"
#include "dense/gpu/elementwise.hpp"
#include "dense/gpu/gemm_half.hpp"
#include "dense/gpu/gemm_shallow.hpp"
#include "dense/gpu/gemm_shaped.hpp"
#include "dense/gpu/gemm_tf32.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace dense::gpu {

namespace {

/// Bytes of a line of memory, at whose beginning the rows of copies begin.
constexpr int line = 128;

template <class T>
Step<T> const& named(std::vector<Step<T>> const& steps, std::string_view name)
{
    return *std::ranges::find(steps, name, &Step<T>::name);
}

template <class T>
Step<T> const& step_named(std::string_view name)
{
    static auto const steps = gemm_steps<T>();
    return named(steps, name);
}

constexpr std::int64_t tile = 128;

/// Columns of c that threads multiply as fast as tensor cores, in double: from results on an H200.
constexpr std::int64_t very_thin = 4;

/// Tiles of c below which the sum is split among blocks, so that all multiprocessors have work.
constexpr std::int64_t few_tiles = 100;

/// Tiles of c up to which a cluster adds up in shared memory, in float: from results on an H100.
constexpr std::int64_t very_few_tiles = 4;

// Microseconds that steps for a few columns or rows take, as far as models with constants fitted to
// 45 shapes on an H200 can tell: a launch, rows, and what is read and multiplied.
double thin_columns_microseconds(Matrix<float const> const& a, Matrix<float const> const& b)
{
    auto const rows = static_cast<double>(a.rows);
    auto const depth = static_cast<double>(a.columns);
    auto const columns = static_cast<double>(b.columns);
    double const slower = a.stride % 4 == 0 ? 1 : 3; // where rows of a are not read in packs
    return 1.6 + rows * (2.2e-4 + 1.1e-4 * columns) + depth * columns * 1.2e-4 +
           rows * depth * (columns + 2) * 2.7e-7 * slower;
}

double few_rows_microseconds(Matrix<float const> const& a, Matrix<float const> const& b)
{
    return 3.1 + static_cast<double>(a.rows * a.columns * (b.columns + 300)) * 1.9e-7;
}

/// Who multiplies floats, and how long that is expected to take.
struct Choice
{
    Step<float> const* step;
    double microseconds;
};

/// The choice without tensor cores, on GPUs that have what `shaped_tiles` need; none on others.
std::optional<Choice> hopper_choice(Matrix<float const> const& a, Matrix<float const> const& b,
                                    Matrix<float> const& c)
{
    auto const& shaped = step_named<float>("shaped_tiles");
    if (!shaped.refuses(a, b, c).empty()) {
        return std::nullopt;
    }
    Choice best{&shaped, shaped_plans(shaped_problem(a, b)).front().microseconds};
    auto const take_if_faster = [&](std::string_view name, auto expected) {
        auto const& other = step_named<float>(name);
        if (other.refuses(a, b, c).empty() && expected(a, b) < best.microseconds) {
            best = {&other, expected(a, b)};
        }
    };
    take_if_faster("thin_columns", thin_columns_microseconds);
    take_if_faster("few_rows", few_rows_microseconds);
    return best;
}

/// The same on tensor cores. In `tf32x3` the device takes tiles in turns, all of a turn through the
/// whole depth, 32 at a time: constants from 58 products on an H200.
double tensor_microseconds(Precision precision, Matrix<float const> const& a,
                           Matrix<float const> const& b)
{
    if (precision == Precision::tf32) {
        return tf32_plans(a, b).front().microseconds;
    }
    auto const tiles = base::ceil_div(a.rows, 128) * 2 * base::ceil_div(b.columns, 256);
    auto const turns = base::ceil_div(tiles, clusters_at_once(1));
    return 4 + static_cast<double>(turns * base::ceil_div(a.columns, 32));
}

/// The step for such matrices in full precision: doubles, and floats on GPUs that have no choice.
template <class T>
Step<T> const& plain_step(Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c)
{
    if constexpr (std::is_same_v<T, double>) {
        auto const& tensor = step_named<T>("tensor_fp64");
        if (b.columns > very_thin && tensor.refuses(a, b, c).empty()) {
            return tensor;
        }
    }
    auto const& thin = step_named<T>("thin_columns");
    if (thin.refuses(a, b, c).empty()) {
        return thin;
    }
    auto const tiles = ((c.rows + tile - 1) / tile) * ((c.columns + tile - 1) / tile);
    if (tiles >= few_tiles) {
        return step_named<T>("warp_tiles");
    }
    auto const& cluster = step_named<T>("cluster_k");
    bool const takes_cluster =
        std::is_same_v<T, float> && tiles <= very_few_tiles && cluster.refuses(a, b, c).empty();
    return takes_cluster ? cluster : step_named<T>("split_k");
}

/// On tensor cores, in such a precision, the faster first.
std::vector<Step<float>> const& tensor_steps(Precision precision)
{
    static auto const all = tensor_gemm_steps();
    static std::vector const once{named(all, "wgmma_tf32"), named(all, "fragments_tf32")};
    static std::vector const thrice{named(all, "wgmma_3xtf32"), named(all, "fragments_3xtf32")};
    static std::vector<Step<float>> const none;
    return precision == Precision::fp32 ? none : precision == Precision::tf32 ? once : thrice;
}

/// Those of some steps that do not refuse, without one that is there already.
template <class T>
void add_possible(std::vector<Step<T>>& to, std::vector<Step<T>> const& steps,
                  Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c)
{
    for (auto const& step : steps) {
        bool const is_there = std::ranges::find(to, step.name, &Step<T>::name) != to.end();
        if (!is_there && step.refuses(a, b, c).empty()) {
            to.push_back(step);
        }
    }
}

/// Those in full precision that are fast for some shape, for more shapes the first.
template <class T>
std::vector<Step<T>> plain_steps()
{
    std::vector<Step<T>> steps;
    auto const add = [&](auto... names) { (steps.push_back(step_named<T>(names)), ...); };
    if constexpr (std::is_same_v<T, float>) {
        add("shaped_tiles", "few_rows");
    } else {
        add("tensor_fp64");
    }
    add("thin_columns", "warp_tiles", "cluster_k", "split_k");
    return steps;
}

// Microseconds that an H200 takes more where rows do not all begin at multiples of 16 bytes.
constexpr double copy_of_operand = 1.74; ///< and for each of its bytes:
constexpr double byte_of_copy = 0.3e-6;
constexpr double loose_store = 1.9e-6; ///< an element of c

/// What stands in front of `wgmma` and behind it.
struct Around
{
    WgmmaProblem problem;
    HalfPlan plan; ///< but for its tiles, with the microseconds of all else
};

template <class T>
Around around_wgmma(Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c)
{
    Around around{wgmma_problem(a, b), {.way = HalfWay::wgmma}};
    auto const copies = [&](Matrix<T const> const& m, int& alignment) {
        if (can_load_boxes(m)) {
            return false;
        }
        alignment = line;
        around.plan.microseconds +=
            copy_of_operand + byte_of_copy * static_cast<double>(m.rows * m.columns) * sizeof(T);
        return true;
    };
    around.plan.copies_a = copies(a, around.problem.alignment_a);
    around.plan.copies_b = copies(b, around.problem.alignment_b);
    if (!can_load_boxes<T>(c)) {
        around.plan.microseconds += loose_store * static_cast<double>(c.rows * c.columns);
    }
    return around;
}

HalfPlan with_tiles(HalfPlan plan, WgmmaPlan const& tiles)
{
    plan.wgmma = tiles;
    plan.microseconds += tiles.microseconds;
    return plan;
}

HalfPlan without_tensor_cores(SmallPlan const& small)
{
    return {.way = HalfWay::small, .small = small.way, .microseconds = small.microseconds};
}

} // namespace

Step<float> const& chosen_step(Precision precision, Matrix<float const> const& a,
                               Matrix<float const> const& b, Matrix<float> const& c)
{
    auto const plain = hopper_choice(a, b, c);
    // Tiles for tensor cores are large: where few of them cover c, floats are faster as they are.
    if (!plain || tensor_microseconds(precision, a, b) < plain->microseconds) {
        for (auto const& step : tensor_steps(precision)) {
            if (step.refuses(a, b, c).empty()) {
                return step;
            }
        }
    }
    return plain ? *plain->step : plain_step(a, b, c);
}

Step<double> const& chosen_step(Precision /*precision*/, Matrix<double const> const& a,
                                Matrix<double const> const& b, Matrix<double> const& c)
{
    return plain_step(a, b, c);
}

std::vector<Step<float>> possible_steps(Precision precision, Matrix<float const> const& a,
                                        Matrix<float const> const& b, Matrix<float> const& c)
{
    std::vector steps{chosen_step(precision, a, b, c)};
    add_possible(steps, tensor_steps(precision), a, b, c);
    add_possible(steps, plain_steps<float>(), a, b, c);
    return steps;
}

std::vector<Step<double>> possible_steps(Precision precision, Matrix<double const> const& a,
                                         Matrix<double const> const& b, Matrix<double> const& c)
{
    std::vector steps{chosen_step(precision, a, b, c)};
    add_possible(steps, plain_steps<double>(), a, b, c);
    return steps;
}

std::string HalfPlan::text() const
{
    auto const copies = copies_a && copies_b ? ", operands copied"
                        : copies_a           ? ", a copied"
                        : copies_b           ? ", b copied"
                                             : "";
    switch (way) {
    case HalfWay::small:
        return std::string{name_of(small)};
    case HalfWay::mma:
        return "mma_sync";
    case HalfWay::wgmma:
        return "wgmma in " + wgmma.text() + copies;
    }
    return {};
}

template <class T>
HalfPlan half_plan(Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c)
{
    if (!has_wgmma()) {
        return {};
    }
    auto const around = around_wgmma(a, b, c);
    auto const tiles = with_tiles(around.plan, wgmma_plans(around.problem).front());
    auto const small = small_plans(c.rows, c.columns, a.columns).front();
    return small.microseconds < tiles.microseconds ? without_tensor_cores(small) : tiles;
}

template <class T>
std::vector<HalfPlan> half_plans(Matrix<T const> const& a, Matrix<T const> const& b,
                                 Matrix<T> const& c)
{
    std::vector<HalfPlan> plans;
    if (has_wgmma()) {
        auto const around = around_wgmma(a, b, c);
        for (auto const& tiles : wgmma_plans(around.problem)) {
            plans.push_back(with_tiles(around.plan, tiles));
        }
    } else {
        plans.emplace_back(); // by mma_sync, which no model knows: first
    }
    for (auto const& small : small_plans(c.rows, c.columns, a.columns)) {
        plans.push_back(without_tensor_cores(small));
    }
    std::ranges::stable_sort(plans, {}, &HalfPlan::microseconds);
    return plans;
}

/// `c = alpha a b + beta c` of 16 bits, copied as planned.
template <class T>
void multiply_half(HalfPlan const& plan, double alpha, Matrix<T const> a, Matrix<T const> b,
                   double beta, Matrix<T> c, cuda::Stream const& stream)
{
    auto const refusal = refuses_mma(a, b, c);
    if (!refusal.empty()) {
        throw std::invalid_argument{"dense::gpu::gemm: " + std::string{refusal}};
    }
    switch (plan.way) {
    case HalfWay::small:
        return multiply_small(plan.small, alpha, a, b, beta, c, stream);
    case HalfWay::mma:
        return multiply_by_mma(alpha, a, b, beta, c, stream);
    case HalfWay::wgmma:
        return multiply_by_wgmma(plan.wgmma, alpha, a, b, beta, c, stream);
    }
}

template <class T>
std::optional<OneVector> one_vector(Matrix<T const> const& a, Matrix<T const> const& b,
                                    Matrix<T> const& c, GemmOptions const& options)
{
    if constexpr (std::is_same_v<T, base::bf16>) {
        auto const result = [&](std::int64_t of_row) {
            return GemvResult{c.data, 0, of_row, static_cast<float>(options.alpha),
                              static_cast<float>(options.beta)};
        };
        auto const transposes = options.transposes;
        // On an H200 `multiply_small` is done with such a column before gemv.
        bool const has_few_long_rows = c.rows <= 132 && a.columns > 1024 && !transposes.b;
        if (c.columns == 1 && !transposes.a && (transposes.b || b.stride == 1) &&
            !has_few_long_rows) {
            return OneVector{a, {b.data, 1, a.columns}, result(c.stride)};
        }
        if (c.rows == 1 && transposes.b && (!transposes.a || a.stride == 1)) {
            return OneVector{b, {a.data, 1, b.columns}, result(1)};
        }
    }
    return std::nullopt;
}

template <class T>
Matrix<T> aligned_matrix(std::int64_t rows, std::int64_t columns)
{
    constexpr std::int64_t elements = line / sizeof(T);
    return {nullptr, rows, columns, base::ceil_div(columns, elements) * elements};
}

template <class T>
Matrix<T const> copied(Matrix<T const> const& m, bool transposes, Matrix<T> const& to,
                       cuda::Stream const& stream)
{
    if (to.rows == 0) {
        return m;
    }
    if (transposes) {
        transpose<T>(m, to, stream);
    } else if constexpr (is_half<T>) {
        align_rows<T>(m, to, stream);
    }
    return to;
}

#define INSTANTIATE_COPIES(T)                                                                      \
    template std::optional<OneVector> one_vector(Matrix<T const> const&, Matrix<T const> const&,   \
                                                 Matrix<T> const&, GemmOptions const&);            \
    template Matrix<T> aligned_matrix(std::int64_t, std::int64_t);                                 \
    template Matrix<T const> copied(Matrix<T const> const&, bool, Matrix<T> const&,                \
                                    cuda::Stream const&)
INSTANTIATE_COPIES(float);
INSTANTIATE_COPIES(double);
INSTANTIATE_COPIES(base::fp16);
INSTANTIATE_COPIES(base::bf16);
#undef INSTANTIATE_COPIES

#define INSTANTIATE(T)                                                                             \
    template HalfPlan half_plan(Matrix<T const> const&, Matrix<T const> const&, Matrix<T> const&); \
    template std::vector<HalfPlan> half_plans(Matrix<T const> const&, Matrix<T const> const&,      \
                                              Matrix<T> const&);                                   \
    template void multiply_half(HalfPlan const&, double, Matrix<T const>, Matrix<T const>, double, \
                                Matrix<T>, cuda::Stream const&)
INSTANTIATE(base::fp16);
INSTANTIATE(base::bf16);
#undef INSTANTIATE

} // namespace dense::gpu
