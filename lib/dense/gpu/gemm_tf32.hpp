#pragma once

#include "cuda/stream.hpp"
#include "dense/matrix.hpp"

#include <string>
#include <vector>

/// \file
/// Products of floats in TF32 on Hopper's tensor cores: which tile, and whether blocks share rows
/// or the depth. GPUs of compute capability 9.0 alone have these instructions.

namespace dense::gpu {

/// How such a product is divided among blocks.
struct Tf32Plan
{
    int rows = 0;            ///< of a tile of `c`, which has 128 columns
    int across = 2;          ///< blocks beside each other, which share rows of `a`: 1 or 2
    int parts = 1;           ///< blocks that divide the depth of a tile
    double microseconds = 0; ///< that an H200 is expected to take

    /// "tiles of 128 x 128, rows loaded for 2, depth in 4 parts"
    std::string text() const;
};

/// All plans for a product on the current device, the fastest first as far as a model can tell.
std::vector<Tf32Plan> tf32_plans(Matrix<float const> const& a, Matrix<float const> const& b);

/// `c = a b` by a plan. Throws std::invalid_argument if there is no such tile or cluster.
void multiply_by_tf32(Tf32Plan const& plan, Matrix<float const> a, Matrix<float const> b,
                      Matrix<float> c, cuda::Stream const& stream);

} // namespace dense::gpu
