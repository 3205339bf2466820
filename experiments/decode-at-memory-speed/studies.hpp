#pragma once

#include "bound.hpp"

#include "bench/experiment.hpp"
#include "cuda/gpu.hpp"
#include "dense/gpu/gemv.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// The studies of this experiment, each in a source of its own, and what they share.
namespace decode {

/// reads.cpp: a plain read of so many bytes, by wide loads and by bulk copies: the bound.
void add_reads(bench::Experiment& experiment, cuda::Gpu& gpu);

/// weights.cpp: one vector times weights of 16, 8 and 4 bits, from one thread a row on.
void add_weights(bench::Experiment& experiment, cuda::Gpu& gpu);

/// As above: weights of 16 bits times one to sixteen vectors.
void add_vectors(bench::Experiment& experiment, cuda::Gpu& gpu);

/// attention.cpp: one new word over caches of many lengths.
void add_attention(bench::Experiment& experiment, cuda::Gpu& gpu);

/// layers.cpp: all products with weights of one layer of published models.
void add_layers(bench::Experiment& experiment, cuda::Gpu& gpu);

/// Adds the two reads of memory that a variant may read: of as many whole tiles as fit into
/// `bytes`, which begin where an operand does. `host` is the same on the host.
void add_reads_of(bench::Trial& trial, cuda::Gpu& gpu, std::function<std::byte const*()> device,
                  std::function<std::byte const*()> host, std::size_t bytes);

/// Sizes of weights: m results, k elements of each vector.
struct Shape
{
    std::int64_t m;
    std::int64_t k;

    std::size_t count() const { return static_cast<std::size_t>(m * k); }
};

/// From `8192x4096`: m, k. Throws std::invalid_argument with what is wrong.
Shape parse_shape(std::string const& text);

/// What `n` vectors (n x k) times weights must give, and by how much sums in float, rounded to bf16
/// once, may be off: `value` and `bound` are n x m. `T` is what the weights are kept in on the
/// device: bf16, or float for those that were quantised.
template <class T>
bench::Expected expected_products(dense::Matrix<T const> weights,
                                  std::span<bench::bf16 const> vectors, bool is_exact,
                                  cuda::Gpu& gpu);

/// Weights that were rounded to 8 or to 4 bits.
class Quantised
{
public:
    /// Rounds them now, on the device.
    Quantised(int bits, dense::Matrix<bench::bf16 const> weights, cuda::Gpu& gpu);

    /// The same place, after the weights have changed.
    void round_again(cuda::Gpu& gpu);

    void multiply(dense::Matrix<bench::bf16 const> x, dense::Matrix<bench::bf16> y,
                  cuda::Stream const& stream) const;

    /// Products with what they stand for now.
    bench::Expected expected(std::span<bench::bf16 const> vectors, cuda::Gpu& gpu) const;

    /// Bytes that are read, scales among them.
    std::size_t bytes() const;

    dense::gpu::Fp8Weights eight() const;
    bool is_eight() const;

private:
    struct State;
    std::shared_ptr<State> state_;
};

} // namespace decode
