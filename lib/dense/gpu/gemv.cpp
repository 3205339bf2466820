#include "dense/gpu/gemv.hpp"

#include "base/bytes.hpp"
#include "dense/gpu/elementwise.hpp"
#include "dense/gpu/gemv_steps.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace dense::gpu {

namespace {

using base::bf16;

constexpr char const* who_multiplies = "dense::gpu::gemv";

[[noreturn]] void refuse(char const* who, std::string const& found)
{
    throw std::invalid_argument{std::string{who} + ": found " + found};
}

void require_sizes(char const* who, std::int64_t rows, std::int64_t columns)
{
    if (rows < 0 || columns < 0 ||
        std::max(rows, columns) > std::numeric_limits<std::int32_t>::max()) {
        refuse(who, std::to_string(rows) + " x " + std::to_string(columns) +
                        " weights, expected sizes from 0 to 2^31 - 1");
    }
}

// --- weights -------------------------------------------------------------------------------------

template <class T>
void require_weights(char const* who, Matrix<T> const& w)
{
    require_matrix(who, w);
    require_sizes(who, w.rows, w.columns);
}

void require_weights(char const* who, Fp8Weights const& w)
{
    require_weights(who, w.elements);
    auto const rows = static_cast<std::size_t>(w.elements.rows);
    if (w.scales.size() != rows || (rows > 0 && w.scales.data() == nullptr)) {
        refuse(who, std::to_string(w.scales.size()) + " scales, expected one for each of " +
                        std::to_string(rows) + " rows");
    }
}

void require_packed(char const* who, std::int64_t rows, std::int64_t columns,
                    std::span<std::byte const> packed)
{
    require_sizes(who, rows, columns);
    auto const bytes = int4_bytes(rows, columns);
    bool const is_aligned = reinterpret_cast<std::uintptr_t>(packed.data()) % 16 == 0;
    if (packed.size() != bytes || !is_aligned || (bytes > 0 && packed.data() == nullptr)) {
        refuse(who, std::to_string(packed.size()) + " packed bytes" +
                        (is_aligned ? "" : " between two multiples of 16") + ", expected " +
                        std::to_string(bytes));
    }
}

void require_weights(char const* who, Int4Weights const& w)
{
    require_packed(who, w.rows, w.columns, w.packed);
}

Matrix<bf16 const> const& sizes_of(Matrix<bf16 const> const& w)
{
    return w;
}
Matrix<base::e4m3 const> const& sizes_of(Fp8Weights const& w)
{
    return w.elements;
}
Int4Weights const& sizes_of(Int4Weights const& w)
{
    return w;
}

/// Whether weights have bytes in common with a matrix.
template <class T, class U>
bool meets(Matrix<T> const& w, Matrix<U> const& other)
{
    return overlap(w, other);
}
template <class U>
bool meets(Fp8Weights const& w, Matrix<U> const& other)
{
    return overlap(w.elements, other) ||
           base::overlap(w.scales.data(), w.scales.size_bytes(), other.data, extent_bytes(other));
}
template <class U>
bool meets(Int4Weights const& w, Matrix<U> const& other)
{
    return base::overlap(w.packed.data(), w.packed.size(), other.data, extent_bytes(other));
}

template <class W>
void require(W const& w, Matrix<bf16 const> const& x, Matrix<bf16> const& y)
{
    constexpr char const* who = who_multiplies;
    require_weights(who, w);
    require_matrix(who, x);
    require_matrix(who, y);
    auto const& sizes = sizes_of(w);
    if (x.columns != sizes.columns || y.columns != sizes.rows || x.rows != y.rows) {
        refuse(who, std::to_string(sizes.rows) + " x " + std::to_string(sizes.columns) +
                        " weights, vectors " + size_text(x) + " and results " + size_text(y) +
                        ", expected sizes that agree");
    }
    if (x.rows > most_vectors) {
        refuse(who, std::to_string(x.rows) + " vectors, expected at most " +
                        std::to_string(most_vectors));
    }
    if (meets(w, y) || overlap(x, y)) {
        refuse(who, "results in memory of an operand, expected memory of their own");
    }
}

template <class W>
void multiply(W const& w, Matrix<bf16 const> x, Matrix<bf16> y, cuda::Stream const& stream)
{
    require(w, x, y);
    if (y.rows == 0 || y.columns == 0) {
        return;
    }
    if (x.columns == 0) {
        set_zero(y, stream);
        return;
    }
    multiply_vectors(w, x, {y.data, y.stride}, stream);
}

template <class W>
void require_as_large(char const* who, W const& w, std::string const& what, std::int64_t rows,
                      std::int64_t columns)
{
    if (rows != w.rows || columns != w.columns) {
        refuse(who, std::to_string(w.rows) + " x " + std::to_string(w.columns) + " weights and " +
                        std::to_string(rows) + " x " + std::to_string(columns) + " " + what +
                        ", expected sizes that agree");
    }
}

template <class W>
void dequantise_into(W const& w, Matrix<float> to, cuda::Stream const& stream)
{
    constexpr char const* who = "dense::gpu::dequantise";
    require_weights(who, w);
    require_matrix(who, to);
    require_as_large(who, sizes_of(w), "results", to.rows, to.columns);
    if (meets(w, to)) {
        refuse(who, "results in memory of the weights, expected memory of their own");
    }
    if (to.rows > 0 && to.columns > 0) {
        launch_dequantise(w, to, stream);
    }
}

} // namespace

std::size_t int4_bytes(std::int64_t rows, std::int64_t columns)
{
    require_sizes("dense::gpu::int4_bytes", rows, columns);
    constexpr std::int64_t panel = 16;
    constexpr std::int64_t pair = 2 * int4_group;
    auto const panels = (rows + panel - 1) / panel;
    auto const pairs = (columns + pair - 1) / pair;
    constexpr std::int64_t bytes = panel * (pair / 2 + 2 * 2); // two scales a row
    if (pairs > 0 && panels > static_cast<std::int64_t>(base::most_bytes) / bytes / pairs) {
        refuse("dense::gpu::int4_bytes", std::to_string(rows) + " x " + std::to_string(columns) +
                                             " weights, expected no more than memory can have");
    }
    return static_cast<std::size_t>(panels * pairs * bytes);
}

template <class W>
std::vector<GemvStep<W>> gemv_steps()
{
    std::vector<GemvStep<W>> steps;
    if constexpr (!std::is_same_v<W, Int4Weights>) {
        steps = gemv_thread_steps<W>();
        steps.push_back(gemv_bulk_step<W>());
    }
    steps.push_back(gemv_tensor_step<W>());
    return steps;
}

template <class W>
void multiply_vectors(W const& w, Matrix<bf16 const> x, GemvResult y, cuda::Stream const& stream)
{
    static auto const steps = gemv_steps<W>();
    // On an H200 one vector of bf16 is done soonest without tensor cores, of 8 bits with them.
    bool const is_plain = std::is_same_v<W, Matrix<bf16 const>> && x.rows == 1;
    auto const order = is_plain ? std::array{"columns", "tensor_rows", "warp_rows"}
                                : std::array{"tensor_rows", "columns", "warp_rows"};
    std::string_view why;
    for (std::string_view const name : order) {
        auto const step = std::ranges::find(steps, name, &GemvStep<W>::name);
        if (step == steps.end()) {
            continue;
        }
        why = step->refuses(w, x);
        if (why.empty()) {
            step->multiply(w, x, y, stream);
            return;
        }
    }
    refuse(who_multiplies, "weights that no kernel takes: " + std::string{why});
}

void gemv(Matrix<bf16 const> w, Matrix<bf16 const> x, Matrix<bf16> y, cuda::Stream const& stream)
{
    multiply(w, x, y, stream);
}

void gemv(Fp8Weights const& w, Matrix<bf16 const> x, Matrix<bf16> y, cuda::Stream const& stream)
{
    multiply(w, x, y, stream);
}

void gemv(Int4Weights const& w, Matrix<bf16 const> x, Matrix<bf16> y, cuda::Stream const& stream)
{
    multiply(w, x, y, stream);
}

void quantise_fp8(Matrix<bf16 const> w, Matrix<base::e4m3> elements, std::span<float> scales,
                  cuda::Stream const& stream)
{
    constexpr char const* who = "dense::gpu::quantise_fp8";
    require_weights(who, w);
    require_weights(who, Fp8Weights{elements, scales});
    require_as_large(who, w, "elements", elements.rows, elements.columns);
    if (w.rows > 0) {
        launch_quantise_fp8(w, elements, scales.data(), stream);
    }
}

void quantise_int4(Matrix<bf16 const> w, std::span<std::byte> packed, cuda::Stream const& stream)
{
    constexpr char const* who = "dense::gpu::quantise_int4";
    require_weights(who, w);
    require_packed(who, w.rows, w.columns, packed);
    if (!packed.empty()) {
        launch_quantise_int4(w, packed, stream);
    }
}

void pack_int4(Matrix<std::int8_t const> integers, Matrix<base::fp16 const> scales,
               std::span<std::byte> packed, cuda::Stream const& stream)
{
    constexpr char const* who = "dense::gpu::pack_int4";
    require_weights(who, integers);
    require_matrix(who, scales);
    auto const groups = (integers.columns + int4_group - 1) / int4_group;
    if (scales.rows != integers.rows || scales.columns != groups) {
        refuse(who, "scales " + size_text(scales) + " for integers " + size_text(integers) +
                        ", expected one for each row and group");
    }
    require_packed(who, integers.rows, integers.columns, packed);
    if (!packed.empty()) {
        launch_pack_int4(integers, scales, packed, stream);
    }
}

void dequantise(Fp8Weights const& w, Matrix<float> to, cuda::Stream const& stream)
{
    dequantise_into(w, to, stream);
}

void dequantise(Int4Weights const& w, Matrix<float> to, cuda::Stream const& stream)
{
    dequantise_into(w, to, stream);
}

template std::vector<GemvStep<Matrix<bf16 const>>> gemv_steps();
template std::vector<GemvStep<Fp8Weights>> gemv_steps();
template std::vector<GemvStep<Int4Weights>> gemv_steps();
template void multiply_vectors(Matrix<bf16 const> const&, Matrix<bf16 const>, GemvResult,
                               cuda::Stream const&);
template void multiply_vectors(Fp8Weights const&, Matrix<bf16 const>, GemvResult,
                               cuda::Stream const&);
template void multiply_vectors(Int4Weights const&, Matrix<bf16 const>, GemvResult,
                               cuda::Stream const&);

} // namespace dense::gpu
