#pragma once

#include "base/half.hpp"
#include "dense/gpu/gemm.hpp"
#include "dense/gpu/gemm_small.hpp"
#include "dense/gpu/gemm_steps.hpp"
#include "dense/gpu/gemm_wgmma.hpp"
#include "dense/gpu/gemv.hpp"
#include "dense/gpu/gemv_steps.hpp"

#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

/// \file
/// Who multiplies: what `gemm` takes, and what else there is, as far as models can tell. Operands
/// here are not transposed.

namespace dense::gpu {

template <class T>
constexpr bool is_half = sizeof(T) == 2;

/// Throws std::invalid_argument, in the name of `who`, unless `gemm` takes such matrices.
template <class T>
void require_gemm(char const* who, Matrix<T const> const& a, Matrix<T const> const& b,
                  Matrix<T> const& c, Transposes transposes)
{
    require_product(who, a, b, c, transposes);
    for (auto const size : {a.rows, a.columns, c.rows, c.columns}) {
        if (size > std::numeric_limits<int>::max()) {
            throw std::invalid_argument{std::string{who} + ": found a size beyond 32 bits"};
        }
    }
}

// --- floats and doubles --------------------------------------------------------------------------

/// The step for `c = a b` where the sum is not very shallow.
Step<float> const& chosen_step(Precision precision, Matrix<float const> const& a,
                               Matrix<float const> const& b, Matrix<float> const& c);
Step<double> const& chosen_step(Precision precision, Matrix<double const> const& a,
                                Matrix<double const> const& b, Matrix<double> const& c);

/// All steps for it that do not refuse and keep at least such a precision, that one first.
std::vector<Step<float>> possible_steps(Precision precision, Matrix<float const> const& a,
                                        Matrix<float const> const& b, Matrix<float> const& c);
std::vector<Step<double>> possible_steps(Precision precision, Matrix<double const> const& a,
                                         Matrix<double const> const& b, Matrix<double> const& c);

// --- 16 bits -------------------------------------------------------------------------------------

/// Who multiplies 16 bits.
enum class HalfWay
{
    small, ///< threads without tensor cores
    mma,
    wgmma
};

/// A way, and what is done with operands before it.
struct HalfPlan
{
    HalfWay way = HalfWay::mma;
    SmallWay small = {};                     ///< where that is the way
    WgmmaPlan wgmma = {};                    ///< where that is
    bool copies_a = false, copies_b = false; ///< to rows that the copy engine can load
    double microseconds = 0;                 ///< that an H200 is expected to take, copies and all

    /// "wgmma in tiles of 128 x 256, operands copied"
    std::string text() const;
};

/// What is expected to be the fastest.
template <class T>
HalfPlan half_plan(Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c);

/// All that there is, in the order of expectation: that one first.
template <class T>
std::vector<HalfPlan> half_plans(Matrix<T const> const& a, Matrix<T const> const& b,
                                 Matrix<T> const& c);

/// `c = alpha a b + beta c`, with operands that were copied as planned. Throws
/// std::invalid_argument where the current device does not know the type.
template <class T>
void multiply_half(HalfPlan const& plan, double alpha, Matrix<T const> a, Matrix<T const> b,
                   double beta, Matrix<T> c, cuda::Stream const& stream);

// --- one row or column ---------------------------------------------------------------------------

/// A product that is weights times one vector.
struct OneVector
{
    Matrix<base::bf16 const> weights;
    Matrix<base::bf16 const> vector; ///< one row
    GemvResult result;
};

/// Such a product of bf16: a column of `c` whose `a` stands in rows along the sum, or a row of it
/// whose `b` does, as they are given with the transposes of the options. None where the vector has
/// gaps, and none of other types.
template <class T>
std::optional<OneVector> one_vector(Matrix<T const> const& a, Matrix<T const> const& b,
                                    Matrix<T> const& c, GemmOptions const& options);

// --- copies --------------------------------------------------------------------------------------

/// Such a matrix whose rows begin at lines of 128 bytes, without memory yet.
template <class T>
Matrix<T> aligned_matrix(std::int64_t rows, std::int64_t columns);

/// An operand as it is multiplied: transposed into `to`, or copied, if that has rows.
template <class T>
Matrix<T const> copied(Matrix<T const> const& m, bool transposes, Matrix<T> const& to,
                       cuda::Stream const& stream);

} // namespace dense::gpu
