#pragma once

#include "cuda/stream.hpp"
#include "dense/matrix.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// \file
/// Products of 16 bits on Hopper's tensor cores, for every shape: which tile, and whether blocks
/// share operands or the depth.

namespace dense::gpu {

/// How a product is divided among blocks.
struct WgmmaPlan
{
    int rows = 0;    ///< of a tile of `c`
    int columns = 0; ///< of a tile of `c`

    int down = 1;   ///< blocks of a cluster whose tiles lie one above the other: they share `b`,
    int across = 1; ///< and those whose tiles lie beside each other `a`: each loads a part for all

    /// Blocks of a cluster, `down * across` of them where these share, which divide the depth of
    /// tiles that would not fill the device.
    int cluster = 1;

    /// Whether threads copy `b`, in place of the copy engine: in tiles of 64 columns at most.
    bool copies_b = false;

    double microseconds = 0; ///< what the model expects

    int shared() const { return down * across; } ///< tiles of blocks that share

    /// "tiles of 128 x 256, loaded for 2 x 1"
    std::string text() const;
};

/// How many clusters of so many blocks, 1 to 8, run at once on the current device where a
/// multiprocessor has room for one block. It is of compute capability 9.0, and asked once.
int clusters_at_once(int blocks);

/// What decides among plans: the product, and the device.
struct WgmmaProblem
{
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t depth = 0;
    int alignment_a = 128; ///< bytes, 16 to 128, that all rows of `a` begin at multiples of
    int alignment_b = 128; ///< and all rows of `b`

    /// How many clusters of so many blocks run at once where a multiprocessor has room for one
    /// block.
    int (*clusters)(int blocks) = nullptr;
};

/// What the blocks of a launch do. Units are the tiles of blocks that share what they load.
struct WgmmaSchedule
{
    std::int64_t units = 0;    ///< of the product
    std::int64_t whole = 0;    ///< that are not split among clusters
    std::int64_t at_once = 0;  ///< of those
    std::int64_t clusters = 0; ///< that run at once

    std::int64_t blocks = 0; ///< of the launch
};
WgmmaSchedule schedule(WgmmaPlan const& plan, WgmmaProblem const& problem);

/// All plans for a product, the fastest first as far as a model can tell. It counts, in turns of
/// the device, products and rows that the copy engine loads, which take longer where they lie
/// across sectors of 32 bytes, or many in a line, and what a turn and a cluster cost beside. Its
/// constants are fitted to 1,459 shapes, nearly all of them drawn from a seed, on an H200: its
/// first choice takes 2 % longer than the best of the plans that were measured, and as much longer
/// on half of the shapes when it is fitted to the other half.
std::vector<WgmmaPlan> wgmma_plans(WgmmaProblem const& problem);

/// What `wgmma_plans` asks of these matrices and the current device.
template <class T>
WgmmaProblem wgmma_problem(Matrix<T const> const& a, Matrix<T const> const& b);

/// `to = from`, where rows of `to` begin at multiples of 16 bytes and have room for whole packs of
/// so many, which are filled with zeros. The two do not overlap.
template <class T>
void align_rows(Matrix<T const> from, Matrix<T> to, cuda::Stream const& stream);

/// As `multiply_by_wgmma` of `gemm_half.hpp`, by a plan of one's choice. Throws
/// std::invalid_argument if there is no such tile or cluster.
template <class T>
void multiply_by_wgmma(WgmmaPlan const& plan, double alpha, Matrix<T const> a, Matrix<T const> b,
                       double beta, Matrix<T> c, cuda::Stream const& stream);

} // namespace dense::gpu
