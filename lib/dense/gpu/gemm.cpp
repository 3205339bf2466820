#include "dense/gpu/gemm.hpp"

#include "base/ceil_div.hpp"
#include "cuda/workspace.hpp"
#include "dense/gpu/elementwise.hpp"
#include "dense/gpu/gemm_half.hpp"
#include "dense/gpu/gemm_shallow.hpp"
#include "dense/gpu/gemm_shaped.hpp"
#include "dense/gpu/gemm_small.hpp"
#include "dense/gpu/gemm_steps.hpp"
#include "dense/gpu/gemm_wgmma.hpp"
#include "dense/gpu/gemv_steps.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace dense::gpu {

namespace {

constexpr char const* who = "dense::gpu::gemm";

template <class T>
constexpr bool is_half = sizeof(T) == 2;

// --- which step ----------------------------------------------------------------------------------

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

/// The same on tensor cores: turns of the device, which take all tiles of a turn through the whole
/// depth, 32 at a time. From 58 products on an H200.
double tensor_microseconds(Precision precision, Matrix<float const> const& a,
                           Matrix<float const> const& b)
{
    bool const is_once = precision == Precision::tf32;
    auto const tiles =
        base::ceil_div(a.rows, is_once ? 256 : 128) * 2 * base::ceil_div(b.columns, 256);
    auto const turns = base::ceil_div(tiles, clusters_at_once(1));
    return 4 + static_cast<double>(turns * base::ceil_div(a.columns, 32)) * (is_once ? 0.65 : 1);
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

/// `c = a b`.
template <class T>
void multiply(Precision precision, Matrix<T const> a, Matrix<T const> b, Matrix<T> c,
              cuda::Stream const& stream)
{
    if constexpr (std::is_same_v<T, float>) {
        static auto const tensor = tensor_gemm_steps();
        auto const plain = hopper_choice(a, b, c);
        // Tiles for tensor cores are large: where few of them cover c, floats are faster as they
        // are.
        bool const wants_tensor =
            precision != Precision::fp32 &&
            (!plain || tensor_microseconds(precision, a, b) < plain->microseconds);
        for (std::string const way : {"wgmma", "fragments"}) {
            auto const& step =
                named(tensor, way + (precision == Precision::tf32 ? "_tf32" : "_3xtf32"));
            if (wants_tensor && step.refuses(a, b, c).empty()) {
                step.multiply(a, b, c, stream);
                return;
            }
        }
        if (plain) {
            plain->step->multiply(a, b, c, stream);
            return;
        }
    }
    plain_step(a, b, c).multiply(a, b, c, stream);
}

/// Bytes of a line of memory, at whose beginning the rows of copies begin.
constexpr int line = 128;

// --- 16 bits -------------------------------------------------------------------------------------

/// Who multiplies 16 bits.
enum class HalfWay
{
    small, ///< threads without tensor cores
    mma,
    wgmma
};

struct HalfPlan
{
    HalfWay way = HalfWay::mma;
    SmallWay small = {};                     ///< where that is the way
    WgmmaPlan wgmma = {};                    ///< where that is
    bool copies_a = false, copies_b = false; ///< to rows that the copy engine can load
};

// Microseconds that an H200 takes more where rows do not all begin at multiples of 16 bytes.
constexpr double copy_of_operand = 1.74; ///< and for each of its bytes:
constexpr double byte_of_copy = 0.3e-6;
constexpr double loose_store = 1.9e-6; ///< an element of c

/// What is expected to be the fastest, copies and all.
template <class T>
HalfPlan half_plan(Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c)
{
    if (!has_wgmma()) {
        return {};
    }
    if (a.columns <= very_shallow<T>) {
        return {HalfWay::small, SmallWay::shallow};
    }
    HalfPlan plan{
        .way = HalfWay::wgmma, .copies_a = !can_load_boxes(a), .copies_b = !can_load_boxes(b)};
    auto problem = wgmma_problem(a, b);
    double more = can_load_boxes<T>(c) ? 0 : loose_store * static_cast<double>(c.rows * c.columns);
    auto const copy = [&](Matrix<T const> const& m, int& alignment) {
        alignment = line;
        more +=
            copy_of_operand + byte_of_copy * static_cast<double>(m.rows * m.columns) * sizeof(T);
    };
    if (plan.copies_a) {
        copy(a, problem.alignment_a);
    }
    if (plan.copies_b) {
        copy(b, problem.alignment_b);
    }
    plan.wgmma = wgmma_plans(problem).front();
    auto const small = small_plans(c.rows, c.columns, a.columns).front();
    return small.microseconds < more + plan.wgmma.microseconds ? HalfPlan{HalfWay::small, small.way}
                                                               : plan;
}

/// `c = alpha a b + beta c` of 16 bits, copied as planned.
template <class T>
void multiply_half(HalfPlan const& plan, double alpha, Matrix<T const> a, Matrix<T const> b,
                   double beta, Matrix<T> c, cuda::Stream const& stream)
{
    auto const refusal = refuses_mma(a, b, c);
    if (!refusal.empty()) {
        throw std::invalid_argument{who + (": " + std::string{refusal})};
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

// --- one row or column ---------------------------------------------------------------------------

/// A product that is weights times one vector.
struct OneVector
{
    Matrix<base::bf16 const> weights;
    Matrix<base::bf16 const> vector; ///< one row
    GemvResult result;
};

/// Such a product of bf16: a column of `c` whose `a` stands in rows along the sum, or a row of it
/// whose `b` does. None where the vector has gaps, and none of other types.
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

// --- workspaces ----------------------------------------------------------------------------------

constexpr std::int64_t alignment = 256;

std::int64_t rounded_up(std::int64_t count, std::int64_t to)
{
    return (count + to - 1) / to * to;
}

/// A matrix whose rows begin at lines of 128 bytes, without memory yet.
template <class T>
Matrix<T> aligned_matrix(std::int64_t rows, std::int64_t columns)
{
    constexpr std::int64_t elements = line / sizeof(T);
    return {nullptr, rows, columns, rounded_up(columns, elements)};
}

/// What is kept in a workspace, one behind the other: matrices of no rows where it is not needed.
template <class T>
struct Copies
{
    Matrix<T> a; ///< transposed, or with aligned rows
    Matrix<T> b; ///< transposed, or with aligned rows
    Matrix<T> product;
    HalfPlan half; ///< of 16 bits: who multiplies them

    Copies(Matrix<T const> const& left, Matrix<T const> const& right, Matrix<T> const& c,
           GemmOptions const& options)
    {
        if (c.rows == 0 || c.columns == 0 || options.alpha == 0 ||
            one_vector<T>(left, right, c, options)) {
            return;
        }
        if (options.transposes.a) {
            a = aligned_matrix<T>(left.columns, left.rows);
        }
        if (options.transposes.b) {
            b = aligned_matrix<T>(right.columns, right.rows);
        }
        if constexpr (is_half<T>) {
            align(left, right, c, options.transposes);
        } else if (options.beta != 0) {
            product = aligned_matrix<T>(c.rows, c.columns);
        }
    }

    std::size_t bytes() const { return bytes_of(a) + bytes_of(b) + bytes_of(product); }

    void lay_into(std::byte* memory)
    {
        for (Matrix<T>* const one : {&a, &b, &product}) {
            one->data = reinterpret_cast<T*>(memory);
            memory += bytes_of(*one);
        }
    }

private:
    /// Of operands that are not transposed those that the copy engine cannot load.
    void align(Matrix<T const> const& left, Matrix<T const> const& right, Matrix<T> const& c,
               Transposes transposes)
    {
        auto const as_it_is = [](Matrix<T const> const& m, Matrix<T> const& transposed, bool has) {
            return has ? Matrix<T const>{transposed} : m;
        };
        auto const of_a = as_it_is(left, a, transposes.a);
        auto const of_b = as_it_is(right, b, transposes.b);
        half = half_plan(of_a, of_b, c);
        if (half.copies_a) {
            a = aligned_matrix<T>(left.rows, left.columns);
        }
        if (half.copies_b) {
            b = aligned_matrix<T>(right.rows, right.columns);
        }
    }

    static std::size_t bytes_of(Matrix<T> const& m)
    {
        auto const bytes = m.rows * m.stride * static_cast<std::int64_t>(sizeof(T));
        return static_cast<std::size_t>(rounded_up(bytes, alignment));
    }
};

/// An operand as it is multiplied: copied, if it has a place for that.
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

// --- what is refused -----------------------------------------------------------------------------

template <class T>
void require_32_bits(Matrix<T> const& m)
{
    if (std::max(m.rows, m.columns) > std::numeric_limits<int>::max()) {
        throw std::invalid_argument{std::string{who} + ": found a size beyond 32 bits"};
    }
}

template <class T>
void require(Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c,
             GemmOptions const& options)
{
    require_product(who, a, b, c, options.transposes);
    require_32_bits(a);
    require_32_bits(b);
    require_32_bits(c);
}

void require_workspace(std::span<std::byte> given, std::size_t bytes)
{
    bool const is_aligned = reinterpret_cast<std::uintptr_t>(given.data()) % alignment == 0;
    if (given.size() < bytes || !is_aligned) {
        throw std::invalid_argument{std::string{who} + ": found a workspace of " +
                                    std::to_string(given.size()) + " bytes" +
                                    (is_aligned ? "" : " between two multiples of 256") +
                                    ", expected " + std::to_string(bytes)};
    }
}

} // namespace

template <class T>
void gemm(Operand<T> a, Operand<T> b, Matrix<T> c, cuda::Stream const& stream,
          GemmOptions const& options)
{
    require(a, b, c, options);
    auto const depth = options.transposes.a ? a.rows : a.columns;
    if (c.rows == 0 || c.columns == 0) {
        return;
    }
    if (depth == 0 || options.alpha == 0) {
        scale(options.beta, c, stream);
        return;
    }
    Copies<T> copies{a, b, c, options};
    bool const has_given = !options.workspace.empty();
    if (has_given) {
        require_workspace(options.workspace, copies.bytes());
    }
    if (auto const one = one_vector<T>(a, b, c, options)) {
        multiply_vectors(one->weights, one->vector, one->result, stream);
        return;
    }
    cuda::Workspace const own{has_given ? 0 : copies.bytes(), stream};
    copies.lay_into(has_given ? options.workspace.data() : own.data());
    a = copied(a, options.transposes.a, copies.a, stream);
    b = copied(b, options.transposes.b, copies.b, stream);
    if constexpr (is_half<T>) {
        multiply_half<T>(copies.half, options.alpha, a, b, options.beta, c, stream);
    } else if (depth <= very_shallow<T>) {
        multiply_shallow<T>(options.alpha, a, b, options.beta, c, stream);
    } else {
        auto const product = options.beta == 0 ? c : copies.product;
        multiply<T>(options.precision, a, b, product, stream);
        if (options.alpha != 1 || options.beta != 0) {
            add_scaled<T>(options.alpha, product, options.beta, c, stream);
        }
    }
}

template <class T>
std::size_t gemm_workspace_bytes(Operand<T> a, Operand<T> b, Matrix<T> c,
                                 GemmOptions const& options)
{
    require<T>(a, b, c, options);
    return Copies<T>{a, b, c, options}.bytes();
}

#define INSTANTIATE(T)                                                                             \
    template void gemm(Matrix<T const>, Matrix<T const>, Matrix<T>, cuda::Stream const&,           \
                       GemmOptions const&);                                                        \
    template std::size_t gemm_workspace_bytes(Matrix<T const>, Matrix<T const>, Matrix<T>,         \
                                              GemmOptions const&)
INSTANTIATE(float);
INSTANTIATE(double);
INSTANTIATE(base::fp16);
INSTANTIATE(base::bf16);
#undef INSTANTIATE

} // namespace dense::gpu
