#include "dense/gpu/attention.hpp"
#include "dense/gpu/gemm_plan.hpp"
#include "dense/gpu/gemv.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

// What is refused before any device is asked: pointers are only looked at.

namespace {

using base::bf16;
using dense::Matrix;
using dense::gpu::AttentionOperands;
using dense::gpu::AttentionOptions;
using dense::gpu::AttentionShape;
using dense::gpu::Fp8Weights;
using dense::gpu::Int4Weights;

/// Memory that nobody reads.
template <class T>
T* somewhere(std::uintptr_t at)
{
    return reinterpret_cast<T*>(at << 20);
}

cuda::Stream no_stream()
{
    return cuda::Stream{nullptr};
}

constexpr std::int64_t far = std::int64_t{1} << 31;

} // namespace

TEST_CASE("gemv refuses sizes that disagree, too many vectors and results in the way")
{
    auto const stream = no_stream();
    auto* const w = somewhere<bf16 const>(1);
    auto* const x = somewhere<bf16 const>(2);
    auto* const y = somewhere<bf16>(3);
    auto const refuses = [&](Matrix<bf16 const> weights, Matrix<bf16 const> vectors,
                             Matrix<bf16> results) {
        CHECK_THROWS_AS(dense::gpu::gemv(weights, vectors, results, stream), std::invalid_argument);
    };
    refuses({w, 8, 16}, {x, 2, 15}, {y, 2, 8});
    refuses({w, 8, 16}, {x, 2, 16}, {y, 2, 9});
    refuses({w, 8, 16}, {x, 2, 16}, {y, 3, 8});
    refuses({w, 8, 16}, {x, 17, 16}, {y, 17, 8});
    refuses({w, -1, 16}, {x, 2, 16}, {y, 2, -1});
    refuses({w, 8, 16, 15}, {x, 2, 16}, {y, 2, 8});
    refuses({nullptr, 8, 16}, {x, 2, 16}, {y, 2, 8});
    refuses({w, far, 1}, {x, 1, 1}, {y, 1, far});
    refuses({w, 8, 16}, {x, 2, 16}, {somewhere<bf16>(1), 2, 8});
    refuses({w, 8, 16}, {x, 2, 16}, {somewhere<bf16>(2), 2, 8});
}

TEST_CASE("gemv refuses scales and packed bytes that are not those of the weights")
{
    auto const stream = no_stream();
    Matrix<bf16 const> const x{somewhere<bf16 const>(2), 2, 256};
    Matrix<bf16> const y{somewhere<bf16>(3), 2, 32};
    Matrix<base::e4m3 const> const elements{somewhere<base::e4m3 const>(1), 32, 256};
    auto* const scales = somewhere<float const>(4);
    CHECK_THROWS_AS(dense::gpu::gemv(Fp8Weights{elements, {scales, 31}}, x, y, stream),
                    std::invalid_argument);
    CHECK_THROWS_AS(dense::gpu::gemv(Fp8Weights{elements, {}}, x, y, stream),
                    std::invalid_argument);
    CHECK_THROWS_AS(
        dense::gpu::gemv(Fp8Weights{elements, {somewhere<float const>(3), 32}}, x, y, stream),
        std::invalid_argument);
    auto* const packed = somewhere<std::byte const>(5);
    auto const bytes = dense::gpu::int4_bytes(32, 256);
    CHECK_THROWS_AS(dense::gpu::gemv(Int4Weights{32, 256, {packed, bytes - 16}}, x, y, stream),
                    std::invalid_argument);
    CHECK_THROWS_AS(dense::gpu::gemv(Int4Weights{32, 256, {packed + 8, bytes}}, x, y, stream),
                    std::invalid_argument);
    CHECK_THROWS_AS(dense::gpu::gemv(Int4Weights{32, -256, {packed, bytes}}, x, y, stream),
                    std::invalid_argument);
}

TEST_CASE("bytes of 4-bit weights are those of whole panels and pairs of groups, scales among them")
{
    CHECK(dense::gpu::int4_bytes(0, 256) == 0);
    CHECK(dense::gpu::int4_bytes(16, 0) == 0);
    CHECK(dense::gpu::int4_bytes(16, 256) == 16 * 256 / 2 + 16 * 2 * 2);
    CHECK(dense::gpu::int4_bytes(17, 257) == 4 * dense::gpu::int4_bytes(16, 256));
    CHECK_THROWS_AS(dense::gpu::int4_bytes(-1, 1), std::invalid_argument);
    CHECK_THROWS_AS(dense::gpu::int4_bytes(far, 1), std::invalid_argument);
}

TEST_CASE("quantising and packing refuse sizes that disagree")
{
    auto const stream = no_stream();
    Matrix<bf16 const> const w{somewhere<bf16 const>(1), 16, 300};
    Matrix<base::e4m3> const elements{somewhere<base::e4m3>(2), 16, 299};
    auto* const scales = somewhere<float>(3);
    auto* const packed = somewhere<std::byte>(4);
    CHECK_THROWS_AS(dense::gpu::quantise_fp8(w, elements, {scales, 16}, stream),
                    std::invalid_argument);
    CHECK_THROWS_AS(dense::gpu::quantise_int4(w, {packed, 1}, stream), std::invalid_argument);
    Matrix<std::int8_t const> const integers{somewhere<std::int8_t const>(5), 16, 300};
    Matrix<base::fp16 const> const two{somewhere<base::fp16 const>(6), 16, 2};
    CHECK_THROWS_AS(
        dense::gpu::pack_int4(integers, two, {packed, dense::gpu::int4_bytes(16, 300)}, stream),
        std::invalid_argument);
    CHECK_THROWS_AS(
        dense::gpu::dequantise(Int4Weights{16, 300, {packed, dense::gpu::int4_bytes(16, 300)}},
                               {somewhere<float>(7), 16, 301}, stream),
        std::invalid_argument);
}

TEST_CASE("attention refuses shapes, pointers and options that cannot be")
{
    auto const stream = no_stream();
    AttentionOperands const good{somewhere<bf16 const>(1), somewhere<bf16 const>(2),
                                 somewhere<bf16 const>(9), somewhere<bf16>(20)};
    AttentionShape const shape{1, 64, 8, 1024};
    auto const refuses = [&](AttentionShape const& s, AttentionOperands const& operands,
                             AttentionOptions const& options) {
        CHECK_THROWS_AS(dense::gpu::attention_decode(s, operands, stream, options),
                        std::invalid_argument);
    };
    for (auto const& bad : std::vector<AttentionShape>{{0, 64, 8, 1024},
                                                       {1, 64, 8, 0},
                                                       {1, 64, 7, 1024},
                                                       {1, 64, 4, 1024},
                                                       {1, -8, 8, 1024},
                                                       {1, 64, 8, far},
                                                       {far, 64, 8, 1024},
                                                       {std::int64_t{1} << 20, 64, 64, far - 1}}) {
        refuses(bad, good, {});
    }
    auto operands = good;
    operands.keys = nullptr;
    refuses(shape, operands, {});
    operands = good;
    operands.query = reinterpret_cast<bf16 const*>((std::uintptr_t{1} << 20) + 8);
    refuses(shape, operands, {});
    operands = good;
    operands.result = somewhere<bf16>(2);
    refuses(shape, operands, {});
    refuses(shape, good, {.scale = std::numeric_limits<float>::infinity()});
    refuses(shape, good, {.parts = -1});
    refuses(shape, good, {.parts = 1025});
}

TEST_CASE("a plan refuses sizes that disagree and numbers of products that are none")
{
    auto const stream = no_stream();
    auto const refuses = [&](Matrix<float const> a, Matrix<float const> b, Matrix<float> c,
                             dense::gpu::GemmPlanOptions const& options, char const* reason) {
        CHECK_THROWS_WITH_AS((dense::gpu::GemmPlan<float>{a, b, c, stream, {}, options}),
                             doctest::Contains(reason), std::invalid_argument);
    };
    auto* const a = somewhere<float const>(1);
    auto* const b = somewhere<float const>(2);
    auto* const c = somewhere<float>(3);
    refuses({a, 8, 16}, {b, 15, 4}, {c, 8, 4}, {}, "dense::gpu::GemmPlan: found 8 x 16");
    refuses({a, 8, 16}, {b, 16, 4}, {c, 8, 4}, {.multiplies = -1}, "found -1 multiplies");
    refuses({a, 8, 16}, {b, 16, 4}, {c, 8, 4},
            {.multiplies = std::numeric_limits<double>::quiet_NaN()}, "multiplies, expected 0");
}
