#include "gemm.hpp"

#include "machine/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <stdexcept>

namespace gemm {

namespace {

/// Variants in the order in which the article counts them.
constexpr std::array<char const*, 5> counted{"one_thread_1d", "shared_row_1d", "tile_2d_multiples",
                                             "tile_2d_any", "cublas"};

/// Everything that `--algo` may name.
constexpr std::array known{"one_thread_1d",
                           "shared_row_1d",
                           "tile_2d_multiples",
                           "tile_2d_any",
                           "register_tiles",
                           "vector_loads",
                           "swizzled_tiles",
                           "async_copies",
                           "split_k",
                           "warp_tiles",
                           "cluster_k",
                           "thin_columns",
                           "tensor_tf32",
                           "tensor_3xtf32",
                           "tensor_bf16",
                           "mma_sync",
                           "wgmma_tiles",
                           "gemm_tf32",
                           "gemm_tf32x3",
                           "cublas_tf32",
                           "cublaslt_tf32",
                           "fragments_tf32",
                           "fragments_3xtf32",
                           "wgmma_tf32",
                           "wgmma_3xtf32",
                           "gemm",
                           "cublas",
                           "cublas_events",
                           "cublaslt",
                           "triple_loop",
                           "loop_order",
                           "tiles",
                           "packed_avx512",
                           "packed_avx2",
                           "packed_baseline",
                           "openblas",
                           "mkl",
                           "bf16_mma",
                           "bf16_ldmatrix",
                           "bf16_stages",
                           "bf16_wgmma",
                           "bf16_tma",
                           "bf16_tma_wide",
                           "bf16_cluster",
                           "bf16_persistent",
                           "bf16_hidden_stores",
                           "bf16_fences",
                           "bf16_unordered",
                           "tensor_fp64",
                           "few_rows",
                           "shaped_tiles",
                           "gemm_plan",
                           "gemm_plan_tf32"};

bool is_everything(std::string const& algorithm)
{
    return algorithm == "all" || algorithm == "0";
}

void require_known(std::string const& algorithm)
{
    bool const is_number = algorithm.size() == 1 && algorithm[0] >= '0' && algorithm[0] <= '5';
    if (!is_number && algorithm != "all" && std::ranges::count(known, algorithm) == 0) {
        std::string names;
        for (char const* const name : known) {
            names += std::string{", "} + name;
        }
        throw std::invalid_argument{"--algo: found \"" + algorithm +
                                    "\", expected all, 0 to 5, or one of: " + names.substr(2)};
    }
}

/// Throws std::invalid_argument if a product needs more memory than is left here: operands, and
/// what is expected of the result.
void require_fits(Shape shape)
{
    auto const of = [](std::int64_t rows, std::int64_t columns) {
        return static_cast<double>(rows) * static_cast<double>(columns);
    };
    double const bytes = sizeof(double) * (of(shape.m, shape.k) + of(shape.k, shape.n)) +
                         3 * sizeof(double) * of(shape.m, shape.n);
    auto const memory = static_cast<double>(machine::available_memory_bytes());
    if (bytes > memory) {
        throw std::invalid_argument{
            fmt::format("shape {}x{}x{}: it takes {:.3g} GB of memory, and {:.3g} GB are left here",
                        shape.m, shape.k, shape.n, bytes * 1e-9, memory * 1e-9)};
    }
}

} // namespace

Options& options()
{
    static Options given;
    return given;
}

void add_options(bench::Experiment& experiment)
{
    auto& given = options();
    experiment.option("wA", &given.a_columns, "columns of A; with hA, wB and hB: this shape alone")
        .option("hA", &given.a_rows, "rows of A")
        .option("wB", &given.b_columns, "columns of B")
        .option("hB", &given.b_rows, "rows of B, as many as A has columns")
        .option("iter", &given.products, "products of one call, one after the other")
        .option("algo", &given.algorithm, "all or 0, 1 to 5 as the article counts, or a name")
        .option("device", &given.device, "which GPU")
        .option("drawn-from", &given.drawn_from,
                "hash of a commit: it draws the shapes of shapes_*");
}

Shape parse_shape(std::string const& text)
{
    std::array<std::int64_t, 3> sizes{};
    char const* at = text.data();
    char const* const end = at + text.size();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        auto const [next, error] = std::from_chars(at, end, sizes[i]);
        bool const is_last = i + 1 == sizes.size();
        if (error != std::errc{} || sizes[i] < 1 ||
            (is_last ? next != end : next == end || *next != 'x')) {
            throw std::invalid_argument{"shape \"" + text +
                                        "\": expected M x K x N like 256x1024x128, none below 1"};
        }
        at = next + 1;
    }
    Shape const shape{sizes[0], sizes[1], sizes[2]};
    require_fits(shape);
    return shape;
}

void require_size(bench::Parameter const& size)
{
    auto const n = std::get<std::int64_t>(size);
    if (n < 1) {
        throw std::invalid_argument{"--size: found " + std::to_string(n) + ", expected at least 1"};
    }
    require_fits({n, n, n});
}

bench::AxisValues article_shapes()
{
    auto const& given = options();
    require_known(given.algorithm);
    if (given.products < 1) {
        throw std::invalid_argument{"--iter: found " + std::to_string(given.products) +
                                    ", expected at least 1"};
    }
    if (given.device != 0) {
        setenv("CUDA_VISIBLE_DEVICES", std::to_string(given.device).c_str(), 1);
    }
    bench::AxisValues values{"256x1024x128", "312x1000x11"};
    values.tiny = {"64x96x32", "31x100x11"};
    if (given.a_columns != 0 || given.a_rows != 0 || given.b_columns != 0 || given.b_rows != 0) {
        if (given.a_columns != given.b_rows) {
            throw std::invalid_argument{"--wA and --hB: found " + std::to_string(given.a_columns) +
                                        " and " + std::to_string(given.b_rows) +
                                        ", expected the same inner dimension"};
        }
        auto const shape = std::to_string(given.a_rows) + "x" + std::to_string(given.a_columns) +
                           "x" + std::to_string(given.b_columns);
        parse_shape(shape);
        values.tiny = values.quick = values.full = {shape};
    }
    values.require = [](bench::Parameter const& shape) {
        parse_shape(std::get<std::string>(shape));
    };
    return values;
}

bool is_asked_for(std::string const& variant)
{
    auto const& algorithm = options().algorithm;
    if (is_everything(algorithm) || algorithm == variant) {
        return true;
    }
    bool const is_number = algorithm.size() == 1 && algorithm[0] >= '1' && algorithm[0] <= '5';
    return is_number && counted[static_cast<std::size_t>(algorithm[0] - '1')] == variant;
}

} // namespace gemm
