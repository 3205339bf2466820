#include "dense/gpu/gemm.hpp"

#include "cuda/error.hpp"
#include "dense/gpu/gemm_steps.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace dense::gpu {

namespace {

template <class T>
Step<T> const& step_named(std::string_view name)
{
    static auto const steps = gemm_steps<T>();
    return *std::ranges::find(steps, name, &Step<T>::name);
}

constexpr std::int64_t thin = 16; ///< columns of c that `thin_columns` takes at most
constexpr std::int64_t tile = 128;

/// Tiles of c below which the sum is split among blocks, so that all multiprocessors have work.
constexpr std::int64_t few_tiles = 100;

/// Tiles of c up to which a cluster adds up in shared memory, in float: from results on an H100.
constexpr std::int64_t very_few_tiles = 4;

/// The step for operands of such sizes.
template <class T>
Step<T> const& step_for(Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c)
{
    if (b.columns <= thin) {
        return step_named<T>("thin_columns");
    }
    auto const tiles = ((a.rows + tile - 1) / tile) * ((b.columns + tile - 1) / tile);
    if (tiles >= few_tiles) {
        return step_named<T>("warp_tiles");
    }
    auto const& cluster = step_named<T>("cluster_k");
    bool const takes_cluster =
        std::is_same_v<T, float> && tiles <= very_few_tiles && cluster.refuses(a, b, c).empty();
    return takes_cluster ? cluster : step_named<T>("split_k");
}

template <class M>
void require_dense(M const& m)
{
    if (m.stride != m.columns) {
        throw std::invalid_argument{"dense::gpu::gemm: found rows of " + std::to_string(m.columns) +
                                    " elements that are " + std::to_string(m.stride) +
                                    " apart, expected no gap"};
    }
    if (std::max(m.rows, m.columns) > std::numeric_limits<int>::max()) {
        throw std::invalid_argument{"dense::gpu::gemm: found a size beyond 32 bits"};
    }
}

} // namespace

template <class T>
void gemm(Operand<T> a, Operand<T> b, Matrix<T> c, cuda::Stream const& stream)
{
    require_product("dense::gpu::gemm", a, b, c);
    require_dense(a);
    require_dense(b);
    require_dense(c);
    if (c.rows == 0 || c.columns == 0) {
        return;
    }
    if (a.columns == 0) {
        auto const bytes = static_cast<std::size_t>(c.rows * c.columns) * sizeof(T);
        cuda::check(cudaMemsetAsync(c.data, 0, bytes, stream.get()));
        return;
    }
    step_for<T>(a, b, c).multiply(a, b, c, stream);
}

template void gemm(Matrix<float const>, Matrix<float const>, Matrix<float>, cuda::Stream const&);
template void gemm(Matrix<double const>, Matrix<double const>, Matrix<double>, cuda::Stream const&);

} // namespace dense::gpu
