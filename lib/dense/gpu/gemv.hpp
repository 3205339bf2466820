#pragma once

#include "base/fp8.hpp"
#include "base/half.hpp"
#include "cuda/stream.hpp"
#include "dense/matrix.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

/// \file
/// Products of a large matrix of weights and one to sixteen vectors, on GPUs: what a language model
/// does for each new word, and limited by how fast the weights are read. Weights `w` are a matrix
/// of m rows and k columns, 16, 8 or 4 bits each. Vectors are the rows of `x` (n x k), results the
/// rows of `y` (n x m): `y[v][i]` is the sum of `w[i][j] x[v][j]`, made in float and rounded once
/// to bf16. The sum over no weights is 0; NaN and infinity go through as IEEE 754 has it.
///
/// All memory is the current device's. Work is put into `stream`, nothing waits for the device, and
/// results repeat bit for bit.

namespace dense::gpu {

/// The most vectors of a call.
constexpr std::int64_t most_vectors = 16;

/// Weights of 8 bits: row i stands for `scales[i]` times its elements.
struct Fp8Weights
{
    Matrix<base::e4m3 const> elements;
    std::span<float const> scales; ///< one for each row
};

/// Weights along k that share a scale in `Int4Weights`.
constexpr std::int64_t int4_group = 128;

/// Weights of 4 bits, integers from -8 to 7 with a scale in fp16 for every `int4_group` of a row,
/// as `pack_int4` and `quantise_int4` leave them: in the order in which tensor cores take them.
struct Int4Weights
{
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::span<std::byte const> packed; ///< `int4_bytes` of them, at a multiple of 16
};

/// Bytes of `rows` x `columns` weights of 4 bits with their scales, packed: rows are filled up to a
/// multiple of 16, columns to one of two groups. Throws std::invalid_argument for negative sizes
/// and for more than memory can have.
std::size_t int4_bytes(std::int64_t rows, std::int64_t columns);

/// `y = x w^T`. Rows of `w` and `x` that begin at multiples of 16 bytes are read fastest; any
/// others are read an element at a time.
///
/// Throws std::invalid_argument for sizes that disagree, more than `most_vectors` vectors, more
/// than 2^31 - 1 rows or columns, what no matrix in memory can be (`require_matrix`), a number of
/// scales or bytes that is not that of the weights, `Int4Weights` before compute capability 9.0,
/// and a result in memory of an operand; cuda::Error if a kernel cannot be launched.
void gemv(Matrix<base::bf16 const> w, Matrix<base::bf16 const> x, Matrix<base::bf16> y,
          cuda::Stream const& stream);
void gemv(Fp8Weights const& w, Matrix<base::bf16 const> x, Matrix<base::bf16> y,
          cuda::Stream const& stream);
void gemv(Int4Weights const& w, Matrix<base::bf16 const> x, Matrix<base::bf16> y,
          cuda::Stream const& stream);

/// Rounds weights to 8 bits: the scale of a row is the power of two that brings its largest
/// magnitude between 224 and 448, so that scaling costs no bit. A row of zeros has scale 1; one
/// that has a NaN or an infinity keeps NaN there, and is scaled by the others. Throws
/// std::invalid_argument for sizes that disagree.
void quantise_fp8(Matrix<base::bf16 const> w, Matrix<base::e4m3> elements, std::span<float> scales,
                  cuda::Stream const& stream);

/// Rounds weights to 4 bits: the scale of a group is a seventh of its largest magnitude, rounded to
/// fp16, and 0 for a group of zeros; where a group has a NaN or an infinity its scale is NaN.
/// Throws std::invalid_argument for a number of bytes that is not `int4_bytes`.
void quantise_int4(Matrix<base::bf16 const> w, std::span<std::byte> packed,
                   cuda::Stream const& stream);

/// Packs integers from -8 to 7 (only their lowest four bits are read, as two's complement) and
/// scales, one for each row and group: m x ceil(k / `int4_group`). Throws std::invalid_argument for
/// sizes that disagree.
void pack_int4(Matrix<std::int8_t const> integers, Matrix<base::fp16 const> scales,
               std::span<std::byte> packed, cuda::Stream const& stream);

/// What weights stand for, each rounded once to float, in a matrix of their sizes: for those who
/// check. Throws std::invalid_argument where `gemv` does, and for another size.
void dequantise(Fp8Weights const& w, Matrix<float> to, cuda::Stream const& stream);
void dequantise(Int4Weights const& w, Matrix<float> to, cuda::Stream const& stream);

} // namespace dense::gpu
