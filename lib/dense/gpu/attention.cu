#include "cuda/device.hpp"
#include "cuda/error.hpp"
#include "dense/gpu/attention_steps.hpp"
#include "dense/gpu/gemv_formats.cuh"

#include <cmath>

namespace dense::gpu {

namespace {

constexpr int size = static_cast<int>(head_size);
constexpr int most_heads = static_cast<int>(most_sharing); // as many as tensor cores have vectors
constexpr int warps = 16;
constexpr int threads = 32 * warps;
constexpr int blocks_of_multiprocessor = 1;
constexpr int words_of_step = 16; ///< of a warp
constexpr int packs = 8;          ///< of a lane, of the keys of a step, and of the values
constexpr float lowest = -1e30f;  ///< below all logarithms but that of 0

/// What some words leave for later: of each head the largest exponent, the sum of the weights below
/// it, and the weighted sums of values. These stand in the order of `place_of`, and four apart more
/// than they are, so that lanes of a warp write to different banks.
struct Partial
{
    float largest[most_heads];
    float weight[most_heads];
    float value[most_heads][size + 4];
};

/// Which element of a head stands at place i: eighths of a half in turns.
__device__ int element_at(int i)
{
    return i / 64 * 64 + i % 8 * 8 + i % 64 / 8;
}

struct Operands
{
    base::bf16 const* query;
    base::bf16 const* keys;
    base::bf16 const* values;
    base::bf16* result;
    Partial* partials; ///< parts of each block's head; null where there is one part
    int words;
    int heads;   ///< of a block
    int readers; ///< blocks, one after the other, that read the same head of keys
    int parts;
    float scale; ///< for powers of two
};

/// The transposed square of 8 x 8 elements: lane l gives and gets elements 2 (l % 4) and the one
/// after it of row l / 4. PTX: movmatrix.
__device__ std::uint32_t transposed(std::uint32_t pair)
{
    std::uint32_t across;
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(across) : "r"(pair));
    return across;
}

/// What a warp knows of the heads: lane l of heads 2 (l % 4) and the one after it.
struct Running
{
    float largest[2] = {lowest, lowest};
    float weight[2] = {}; ///< of the words that this lane saw
    float value[8][4] = {};

    /// Makes place for larger exponents: those of lanes with the same heads become the same.
    __device__ void raise(float const (&exponent)[4])
    {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            float found = fmaxf(largest[h], fmaxf(exponent[h], exponent[2 + h]));
#pragma unroll
            for (int lane = 4; lane < 32; lane *= 2) {
                found = fmaxf(found, __shfl_xor_sync(~0u, found, lane));
            }
            float const factor = exp2f(largest[h] - found);
            largest[h] = found;
            weight[h] *= factor;
#pragma unroll
            for (int t = 0; t < 8; ++t) {
                value[t][h] *= factor;
                value[t][2 + h] *= factor;
            }
        }
    }

    __device__ void store(Partial& to)
    {
        int const lane = threadIdx.x % 32;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
#pragma unroll
            for (int over = 4; over < 32; over *= 2) {
                weight[h] += __shfl_xor_sync(~0u, weight[h], over);
            }
            int const head = lane % 4 * 2 + h;
            to.largest[head] = largest[h];
            to.weight[head] = weight[h];
#pragma unroll
            for (int t = 0; t < 8; ++t) {
                to.value[head][8 * t + lane / 4] = value[t][h];
                to.value[head][64 + 8 * t + lane / 4] = value[t][2 + h];
            }
        }
    }
};

/// What lane l has of 16 words. Of the keys: 8 elements in each quarter of rows l / 4 and l / 4
/// + 8. Of the values: 8 elements in each half of rows 2 (l % 4) and the one after it, and of the
/// eighth rows after these. Zeros where the words have ended.
struct Words
{
    uint4 key[packs];
    uint4 value[packs];

    __device__ void load(base::bf16 const* keys, base::bf16 const* values, int first, int end)
    {
        int const g = threadIdx.x % 32 / 4;
        int const c = threadIdx.x % 4;
        auto const part = [&](base::bf16 const* of, int word, int at) {
            auto const* const from = of + std::int64_t{word} * size + at;
            return word < end ? load_once(from) : uint4{};
        };
#pragma unroll
        for (int i = 0; i < packs; ++i) {
            key[i] = part(keys, first + g + i % 2 * 8, i / 2 * 32 + c * 8);
        }
#pragma unroll
        for (int i = 0; i < packs; ++i) {
            value[i] = part(values, first + 2 * c + i / 2 % 2 + i / 4 * 8, i % 2 * 64 + g * 8);
        }
    }
};

/// Products of 16 keys with all heads: the tensor cores' sums of `multiply_tile`.
__device__ void multiply_keys(uint4 const (&key)[packs], uint4 const (&query)[4], float (&sum)[4])
{
    float other[4] = {};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        auto const& low = key[2 * i];
        auto const& high = key[2 * i + 1];
        multiply_tile(sum, low.x, high.x, low.y, high.y, query[i].x, query[i].y);
        multiply_tile(other, low.z, high.z, low.w, high.w, query[i].z, query[i].w);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        sum[i] += other[i];
    }
}

/// Adds 16 values, weighted: tile t has elements t and 64 + t, and every eighth after these.
__device__ void add_values(uint4 const (&value)[packs], std::uint32_t near, std::uint32_t far,
                           float (&sum)[8][4])
{
#pragma unroll
    for (int i4 = 0; i4 < 4; ++i4) {
        std::uint32_t of[packs];
#pragma unroll
        for (int i = 0; i < packs; ++i) {
            of[i] = word(value[i], i4);
        }
#pragma unroll
        for (int odd = 0; odd < 2; ++odd) {
            unsigned const halves = odd == 0 ? 0x5410 : 0x7632;
            multiply_tile(sum[2 * i4 + odd], __byte_perm(of[0], of[2], halves),
                          __byte_perm(of[1], of[3], halves), __byte_perm(of[4], of[6], halves),
                          __byte_perm(of[5], of[7], halves), near, far);
        }
    }
}

__device__ int first_word(Operands const& op, int part)
{
    return static_cast<int>(std::int64_t{op.words} * part / op.parts);
}

/// Lets the kernel that puts parts together begin as soon as there is room.
__device__ void let_next_begin()
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Waits until all parts can be seen.
__device__ void wait_for_attention()
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/// Of the values of all threads of a head, by any order of pairs.
template <class Of>
__device__ float over_block(float x, float (&of_warp)[size / 32], Of of)
{
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) {
        x = of(x, __shfl_xor_sync(~0u, x, lane));
    }
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = x;
    }
    __syncthreads();
    x = of_warp[0];
#pragma unroll
    for (int warp = 1; warp < size / 32; ++warp) {
        x = of(x, of_warp[warp]);
    }
    return x;
}

/// What the warps of a block have found, for good or as a part.
__device__ void put_warps_together(Operands const& op, Partial* partials, int group)
{
    __shared__ float factor[most_heads][warps];
    __shared__ float total[most_heads];
    int const lane = threadIdx.x % 32;
    int const head = threadIdx.x / warps; // of the first threads, half a warp for each
    if (head < most_heads) {
        auto const& mine = partials[threadIdx.x % warps];
        float largest = mine.largest[head];
        float weight = mine.weight[head];
#pragma unroll
        for (int over = warps / 2; over > 0; over /= 2) {
            largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, over));
        }
        float const own = exp2f(mine.largest[head] - largest);
        weight *= own;
#pragma unroll
        for (int over = warps / 2; over > 0; over /= 2) {
            weight += __shfl_xor_sync(~0u, weight, over);
        }
        factor[head][threadIdx.x % warps] = own;
        if (lane % warps == 0) {
            total[head] = weight;
            if (op.partials != nullptr) {
                op.partials[blockIdx.x].largest[head] = largest;
                op.partials[blockIdx.x].weight[head] = weight;
            }
        }
    }
    __syncthreads();
#pragma unroll 2
    for (int e = threadIdx.x; e < op.heads * size; e += threads) {
        int const h = e / size;
        float value = 0;
#pragma unroll
        for (int warp = 0; warp < warps; ++warp) {
            value += factor[h][warp] * partials[warp].value[h][e % size];
        }
        if (op.partials != nullptr) {
            op.partials[blockIdx.x].value[h][e % size] = value;
        } else {
            op.result[(std::int64_t{group} * op.heads + h) * size + element_at(e % size)] =
                rounded_bf16(value / total[h]);
        }
    }
}

//! [attention_decode]
/// A block reads a part of the words of one head of keys, its warps 16 words each in turn, and
/// computes all heads of the query that share it: they are the vectors of the tensor cores' tiles.
__global__ void __launch_bounds__(threads, blocks_of_multiprocessor) attention(Operands const op)
{
    auto* const partials = shared_memory<Partial>(); // of each warp
    let_next_begin();
    int const lane = threadIdx.x % 32;
    int const part = blockIdx.x % op.parts;
    int const group = blockIdx.x / op.parts;
    auto const head = std::int64_t{group / op.readers} * op.words * size;
    uint4 query[4] = {};
    if (lane / 4 < op.heads) {
        auto const* const row =
            op.query + (std::int64_t{group} * op.heads + lane / 4) * size + lane % 4 * 8;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            query[i] = *reinterpret_cast<uint4 const*>(row + 32 * i);
        }
    }
    Running running;
    int const end = first_word(op, part + 1);
    for (int first = first_word(op, part) + static_cast<int>(threadIdx.x / 32) * words_of_step;
         first < end; first += warps * words_of_step) {
        Words words;
        words.load(op.keys + head, op.values + head, first, end);
        float exponent[4] = {};
        multiply_keys(words.key, query, exponent);
        bool is_larger = false;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            bool const is_there = first + lane / 4 + i / 2 * 8 < end;
            exponent[i] = is_there ? op.scale * exponent[i] : -INFINITY;
            // Some way above is no harm: 2^8 is far from the end of floats.
            is_larger = is_larger || exponent[i] > running.largest[i % 2] + 8;
        }
        if (__any_sync(~0u, is_larger)) {
            running.raise(exponent);
        }
        float weight[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            weight[i] = exp2f(exponent[i] - running.largest[i % 2]);
            running.weight[i % 2] += weight[i];
        }
        add_values(words.value, transposed(bf16_pair(weight[0], weight[1])),
                   transposed(bf16_pair(weight[2], weight[3])), running.value);
    }
    running.store(partials[threadIdx.x / 32]);
    __syncthreads();
    put_warps_together(op, partials, group);
}
//! [attention_decode]

//! [second_reduction]
/// Puts the parts of all sequences together: a thread for each element of a head, which first looks
/// at parts of its own to find out what each of them weighs.
__global__ void __launch_bounds__(size) put_together(Operands const op)
{
    wait_for_attention(); // it was begun early
    constexpr int at_once = 16;
    float* const factor = shared_memory<float>(); // of each part
    __shared__ float found[2][size / 32];
    int const head = blockIdx.x % op.heads;
    auto const* const parts = op.partials + std::int64_t{blockIdx.x / op.heads} * op.parts;
    float first[at_once]; // on their way while factors are computed
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
        first[i] = i < op.parts ? parts[i].value[head][threadIdx.x] : 0;
    }
    float largest = lowest;
    for (int i = threadIdx.x; i < op.parts; i += size) {
        largest = fmaxf(largest, parts[i].largest[head]);
    }
    largest = over_block(largest, found[0], [](float a, float b) { return fmaxf(a, b); });
    float weight = 0;
    for (int i = threadIdx.x; i < op.parts; i += size) {
        factor[i] = exp2f(parts[i].largest[head] - largest);
        weight += factor[i] * parts[i].weight[head];
    }
    weight = over_block(weight, found[1], [](float a, float b) { return a + b; });
    float value = 0;
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
        value += i < op.parts ? factor[i] * first[i] : 0;
    }
#pragma unroll 8
    for (int i = at_once; i < op.parts; ++i) {
        value += factor[i] * parts[i].value[head][threadIdx.x];
    }
    op.result[std::int64_t{blockIdx.x} * size + element_at(static_cast<int>(threadIdx.x))] =
        rounded_bf16(value / weight);
}
//! [second_reduction]

} // namespace

int attention_blocks()
{
    return static_cast<int>(cuda::multiprocessors()) * blocks_of_multiprocessor;
}

int attention_words_of_turn()
{
    return warps * words_of_step;
}

std::string_view refuses_attention()
{
    return refusal_before(80, "this GPU has no tensor cores for bf16");
}

std::size_t attention_part_bytes(AttentionShape const& shape, AttentionPlan const& plan)
{
    auto const blocks = shape.batch * shape.heads / plan.heads * plan.parts;
    return plan.parts == 1 ? 0 : static_cast<std::size_t>(blocks) * sizeof(Partial);
}

void launch_attention(AttentionShape const& shape, AttentionOperands const& operands,
                      AttentionPlan const& plan, float scale, std::byte* workspace,
                      cuda::Stream const& stream)
{
    constexpr float log2_e = 1.44269504088896341f;
    auto const sharing = static_cast<int>(shape.heads / shape.shared);
    Operands const op{operands.query,
                      operands.keys,
                      operands.values,
                      operands.result,
                      plan.parts == 1 ? nullptr : reinterpret_cast<Partial*>(workspace),
                      static_cast<int>(shape.words),
                      plan.heads,
                      sharing / plan.heads,
                      plan.parts,
                      scale * log2_e};
    auto const groups = static_cast<unsigned>(shape.batch * shape.heads / plan.heads);
    constexpr int bytes = warps * sizeof(Partial);
    cuda::check(
        cudaFuncSetAttribute(attention, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    attention<<<groups* static_cast<unsigned>(plan.parts), threads, bytes, stream.get()>>>(op);
    cuda::check_launch();
    if (plan.parts == 1) {
        return;
    }
    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(groups * static_cast<unsigned>(plan.heads));
    config.blockDim = dim3(size);
    config.dynamicSmemBytes = static_cast<std::size_t>(plan.parts) * sizeof(float);
    config.stream = stream.get();
    config.attrs = &early;
    config.numAttrs = cuda::overlaps_launches() ? 1 : 0;
    cuda::check(cudaLaunchKernelEx(&config, put_together, op));
}

} // namespace dense::gpu
