#pragma once

#include "cuda/stream.hpp"
#include "dense/matrix.hpp"

#include <string>
#include <vector>

/// \file
/// Products of doubles on tensor cores, which GPUs of compute capability 8.0 and later have for
/// them.

namespace dense::gpu {

/// How such a product is divided among blocks.
struct Fp64Plan
{
    int rows = 0;            ///< of a tile of `c`
    int columns = 0;         ///< of a tile of `c`
    int parts = 1;           ///< blocks of a cluster, which share the depth of a tile
    double microseconds = 0; ///< that an H200 is expected to take

    /// "tiles of 64 x 64, depth in 3 parts"
    std::string text() const;
};

/// All plans for a product on the current device, the fastest first as far as a model can tell.
std::vector<Fp64Plan> fp64_plans(Matrix<double const> const& a, Matrix<double const> const& b);

/// `c = a b` by a plan. Throws std::invalid_argument if there is no such tile or cluster.
void multiply_by_tensor_fp64(Fp64Plan const& plan, Matrix<double const> a, Matrix<double const> b,
                             Matrix<double> c, cuda::Stream const& stream);

} // namespace dense::gpu
