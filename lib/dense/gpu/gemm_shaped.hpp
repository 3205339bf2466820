#pragma once

#include "cuda/stream.hpp"
#include "dense/matrix.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// \file
/// Products of floats without tensor cores, for every shape: tiles of many sizes, and clusters
/// whose blocks share the depth. For GPUs of compute capability 9.0.

namespace dense::gpu {

/// How a product is divided among blocks.
struct ShapedPlan
{
    int rows = 0;            ///< of a tile of `c`
    int columns = 0;         ///< of a tile of `c`
    int cluster = 1;         ///< blocks that share the depth of a tile
    double microseconds = 0; ///< what the model expects

    /// "tiles of 64 x 128, depth in 2 parts"
    std::string text() const;
};

/// What decides among plans: the product, and the device.
struct ShapedProblem
{
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t depth = 0;

    /// Whether rows of `b` are copied in packs of four: they begin at multiples of 16 bytes and
    /// have whole packs.
    bool packs = true;

    /// How many clusters of so many blocks run at once where a multiprocessor has room for one
    /// block. More are laid on top of these: a second one waits while others are free.
    int (*clusters)(int blocks) = nullptr;
};

/// All plans for a product, the fastest first as far as a model can tell. It counts the steps of
/// the multiprocessor that has most blocks. Its constants are fitted to 194 shapes drawn from two
/// seeds and some squares, on an H200: there its first choice takes 2 % longer than the best plan
/// that was measured, in the geometric mean, and at worst 37 %.
std::vector<ShapedPlan> shaped_plans(ShapedProblem const& problem);

/// What `shaped_plans` asks of these matrices and the current device.
ShapedProblem shaped_problem(Matrix<float const> const& a, Matrix<float const> const& b);

/// Why `shaped_tiles` are not made for these matrices or the current device; empty if they are.
std::string_view refuses_shaped_tiles(Matrix<float const> const& a, Matrix<float const> const& b,
                                      Matrix<float> const& c);

/// `c = a b` by the first of its plans.
void multiply_by_shaped_tiles(Matrix<float const> a, Matrix<float const> b, Matrix<float> c,
                              cuda::Stream const& stream);

/// By a plan of one's choice. Throws std::invalid_argument if there is no such tile or cluster.
void multiply_by_shaped_tiles(ShapedPlan const& plan, Matrix<float const> a, Matrix<float const> b,
                              Matrix<float> c, cuda::Stream const& stream);

} // namespace dense::gpu
