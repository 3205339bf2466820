#include "cuda/device.hpp"
#include "cuda/error.hpp"
#include "dense/gpu/gemv_formats.cuh"
#include "dense/gpu/hopper.cuh"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace dense::gpu {

namespace {

constexpr int warps = 8; ///< that multiply; one more asks for copies
constexpr int stages = 12;
constexpr int part_bytes = 2048; ///< of a row, in a stage: one for each warp

struct Ring
{
    unsigned char part[stages][warps][part_bytes];
    Barrier full[stages];
    Barrier empty[stages];
};

//! [bulk_stages]
/// Each of eight warps makes a result. One thread more tells the copy engine to bring the next
/// parts of all eight rows to shared memory, twelve parts ahead: no register holds what is on its
/// way.
template <class E>
__global__ void __launch_bounds__(32 * (warps + 1))
    bulk_stages(RowWeights<E> w, View<base::bf16 const> x, GemvResult y)
{
    constexpr int wide = Pack<E>::size;
    constexpr int part = part_bytes / static_cast<int>(sizeof(E));
    auto& ring = *shared_memory<Ring>();
    if (threadIdx.x == 0) {
        for (int s = 0; s < stages; ++s) {
            ring.full[s].init(1);
            ring.empty[s].init(warps);
        }
        publish_barriers();
    }
    __syncthreads();
    int const warp = threadIdx.x / 32;
    int const lane = threadIdx.x % 32;
    int const rows = w.elements.rows;
    int const columns = w.elements.columns;
    int const begin = static_cast<int>(std::int64_t{rows} * blockIdx.x / gridDim.x);
    int const end = static_cast<int>(std::int64_t{rows} * (blockIdx.x + 1) / gridDim.x);
    Turn<stages> turn;
    if (warp == warps && lane == 0) {
        for (int row = begin; row < end; row += warps) {
            int const here = min(warps, end - row);
            for (int k = 0; k < columns; k += part, ++turn) {
                int const bytes = min(part, columns - k) * static_cast<int>(sizeof(E));
                auto& full = ring.full[turn.stage];
                ring.empty[turn.stage].wait(turn.parity ^ 1);
                full.expect(here * bytes);
                for (int r = 0; r < here; ++r) {
                    load_bytes(ring.part[turn.stage][r],
                               w.elements.data + (row + r) * w.elements.stride + k, bytes, full);
                }
            }
        }
    } else if (warp < warps) {
        for (int row = begin; row < end; row += warps) {
            float sum = 0;
            for (int k = 0; k < columns; k += part, ++turn) {
                ring.full[turn.stage].wait(turn.parity);
                auto const* const held =
                    reinterpret_cast<Pack<E> const*>(ring.part[turn.stage][warp]);
#pragma unroll
                for (int at = lane * wide; at < part; at += 32 * wide) {
                    if (k + at < columns && row + warp < end) {
                        sum += product(held[at / wide], x.data + blockIdx.y * x.stride + k + at);
                    }
                }
                __syncwarp();
                if (lane == 0) {
                    ring.empty[turn.stage].arrive();
                }
            }
            sum = sum_of_warp(sum);
            if (lane == 0 && row + warp < end) {
                write(y, blockIdx.y, row + warp, w.scale(row + warp) * sum);
            }
        }
    }
}
//! [bulk_stages]

template <class W>
void launch(W const& w, Matrix<base::bf16 const> x, GemvResult y, cuda::Stream const& stream)
{
    auto const of_w = rows_of(w);
    using E = std::remove_cvref_t<decltype(of_w.elements.data[0])>;
    constexpr int bytes = sizeof(Ring);
    cuda::check(
        cudaFuncSetAttribute(bulk_stages<E>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    dim3 const blocks{std::min(cuda::multiprocessors(), static_cast<unsigned>(of_w.elements.rows)),
                      static_cast<unsigned>(x.rows)};
    bulk_stages<E><<<blocks, 32 * (warps + 1), bytes, stream.get()>>>(of_w, view_of(x), y);
    cuda::check_launch();
}

template <class W>
std::string_view refuses(W const& w, Matrix<base::bf16 const> const& x)
{
    auto const old = refusal_before(90, "this GPU has no copy engine for bytes");
    return old.empty() ? refuses_parts(w, x) : old;
}

} // namespace

template <class W>
GemvStep<W> gemv_bulk_step()
{
    return {"bulk_stages", launch<W>, refuses<W>};
}

template GemvStep<Matrix<base::bf16 const>> gemv_bulk_step();
template GemvStep<Fp8Weights> gemv_bulk_step();

} // namespace dense::gpu
