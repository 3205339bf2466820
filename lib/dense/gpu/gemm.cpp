#include "dense/gpu/gemm.hpp"

#include "base/ceil_div.hpp"
#include "cuda/workspace.hpp"
#include "dense/gpu/elementwise.hpp"
#include "dense/gpu/gemm_choice.hpp"
#include "dense/gpu/gemm_shallow.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace dense::gpu {

namespace {

constexpr char const* who = "dense::gpu::gemm";

// --- workspaces ----------------------------------------------------------------------------------

constexpr std::int64_t alignment = 256;

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
        return static_cast<std::size_t>(base::ceil_div(bytes, alignment) * alignment);
    }
};

// --- what is refused -----------------------------------------------------------------------------

template <class T>
void require(Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c,
             GemmOptions const& options)
{
    require_gemm(who, a, b, c, options.transposes);
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
        chosen_step(options.precision, a, b, product).multiply(a, b, product, stream);
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
