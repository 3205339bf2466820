#include "dense/gpu/gemv_tensor.cuh"

#include "cuda/device.hpp"
#include "cuda/error.hpp"

#include <algorithm>
#include <string_view>
#include <type_traits>

namespace dense::gpu {

namespace {

/// Rows that are multiplied together: as many for each multiprocessor in as few turns as possible.
int rows_of_turn(std::int64_t rows, int unit, int most)
{
    auto const multiprocessors = static_cast<std::int64_t>(cuda::multiprocessors());
    auto const turns = ceil_div(ceil_div(rows, multiprocessors), most);
    return static_cast<int>(ceil_div(ceil_div(rows, multiprocessors * turns), unit)) * unit;
}

/// What a block leaves for stages of its shared memory, and how many of these each warp then has.
template <class S>
int bytes_of_sums(int vectors)
{
    return S::warps * vectors * S::stride * static_cast<int>(sizeof(float));
}

template <class F, class S>
int stages(int vectors)
{
    int const most = static_cast<int>(cuda::shared_bytes()) - 2 * swizzle_bytes;
    int const fit = (most - bytes_of_sums<S>(vectors)) / (S::warps * Stage<F, S>::bytes(vectors));
    return std::min(most_stages, fit);
}

template <class F, class S>
void launch_shape(F const& weights, CUtensorMap const& of_x, TensorProblem const& problem,
                  GemvResult const& y, cuda::Stream const& stream)
{
    auto const kernel = tensor_rows<F, S>;
    int const bytes = S::warps * problem.stages * Stage<F, S>::bytes(problem.vectors) +
                      bytes_of_sums<S>(problem.vectors);
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    auto const groups = ceil_div(problem.rows, problem.rows_of_turn);
    auto const blocks = std::min(groups, std::int64_t{cuda::multiprocessors()});
    kernel<<<static_cast<unsigned>(blocks), S::threads, static_cast<unsigned>(bytes),
             stream.get()>>>(weights, of_x, problem, y);
    cuda::check_launch();
}

/// Boxes of all vectors, so many columns wide.
template <class X>
CUtensorMap boxes_of_vectors(Matrix<base::bf16 const> const& x)
{
    return boxes_of(x, static_cast<int>(x.rows), X::box_columns);
}

Bf16Panels panels_of(Matrix<base::bf16 const> const& w, int rows)
{
    return {{boxes_of(w, rows, Bf16Panels::chunk), nullptr}};
}

Fp8Panels panels_of(Fp8Weights const& w, int rows)
{
    return {{boxes_of(w.elements, rows, Fp8Panels::chunk, CU_TENSOR_MAP_DATA_TYPE_UINT8,
                      CU_TENSOR_MAP_L2_PROMOTION_L2_128B),
             w.scales.data()}};
}

Int4Panels panels_of(Int4Weights const& w, int)
{
    return {w.packed.data(), static_cast<int>(ceil_div(w.rows, Int4Panels::unit)),
            int4_tiles(w.columns)};
}

template <class W>
std::int64_t columns_in(W const& w)
{
    if constexpr (requires { w.elements; }) {
        return w.elements.columns;
    } else {
        return w.columns;
    }
}

/// By the first of some shapes that has two stages at least: the one with most warps.
template <class W, class S, class... Others>
void launch_first(W const& w, Matrix<base::bf16 const> const& x, GemvResult const& y,
                  cuda::Stream const& stream)
{
    using F = decltype(panels_of(w, 1));
    auto const vectors = static_cast<int>(x.rows);
    int const fit = stages<F, S>(vectors);
    if constexpr (sizeof...(Others) > 0) {
        if (fit < 2) {
            launch_first<W, Others...>(w, x, y, stream);
            return;
        }
    }
    int const rows = rows_of_turn(rows_in(w), F::unit, S::rows);
    TensorProblem const problem{static_cast<int>(rows_in(w)), static_cast<int>(columns_in(w)),
                                vectors, rows, fit};
    launch_shape<F, S>(panels_of(w, rows), boxes_of_vectors<typename F::X>(x), problem, y, stream);
}

template <class W>
void launch(W const& w, Matrix<base::bf16 const> x, GemvResult y, cuda::Stream const& stream)
{
    if (x.rows <= tile_vectors) {
        launch_first<W, TensorShape<16, 2, 1>, TensorShape<12, 2, 1>, TensorShape<8, 2, 1>>(w, x, y,
                                                                                            stream);
    } else {
        launch_first<W, TensorShape<12, 2, 2>, TensorShape<8, 2, 2>, TensorShape<8, 1, 2>>(w, x, y,
                                                                                           stream);
    }
}

template <class W>
std::string_view refuses(W const& w, Matrix<base::bf16 const> const& x)
{
    bool is_aligned = has_aligned_rows(x.data, x.stride);
    if constexpr (!std::is_same_v<W, Int4Weights>) {
        is_aligned = is_aligned && rows_of(w).elements.is_aligned;
    }
    return is_aligned ? refusal_before(90, "this GPU has no copy engine for boxes")
                      : "it takes rows that begin at multiples of 16 bytes";
}

} // namespace

template <class W>
GemvStep<W> gemv_tensor_step()
{
    return {"tensor_rows", launch<W>, refuses<W>};
}

template GemvStep<Matrix<base::bf16 const>> gemv_tensor_step();
template GemvStep<Fp8Weights> gemv_tensor_step();
template GemvStep<Int4Weights> gemv_tensor_step();

} // namespace dense::gpu
