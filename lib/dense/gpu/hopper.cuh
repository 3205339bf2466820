#pragma once

#include "base/half.hpp"
#include "cuda/error.hpp"
#include "dense/gpu/cluster.cuh"
#include "dense/matrix.hpp"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

/// \file
/// What Hopper has of its own for products: barriers in shared memory that count bytes, a copy
/// engine that moves boxes of a matrix, blocks in clusters, tensor cores that read shared memory
/// themselves. Each function is an instruction or two; behind "PTX" stands the section of NVIDIA's
/// PTX ISA that explains it. For .cu files that are compiled for sm_90a alone.

namespace dense::gpu {

/// Threads of a warpgroup, which multiply together: four warps.
constexpr int warpgroup = 128;

/// The number of this warp in its block. The compiler knows that it is the same in all lanes.
__device__ inline int warp_of_block()
{
    return __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
}

/// Whether this lane is the one that acts for its warp, all of whose lanes ask. A box that it loads
/// is one instruction; around that of a lane with a number the compiler puts a loop over lanes.
/// PTX: elect.sync.
__device__ inline bool is_elected()
{
    int is_it;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.s32 %0, 1, 0, p;\n}"
                 : "=r"(is_it));
    return is_it != 0;
}

// --- shared memory -------------------------------------------------------------------------------

/// Bytes of a row of a box, and elements of 16 bits in it. Eight such rows are what a swizzle
/// repeats itself after, and a box begins at a multiple of.
constexpr int row_bytes = 128;
constexpr int row_elements = 64;
constexpr int swizzle_bytes = 8 * row_bytes;

/// The shared memory that a launch gives, as a `Layout` whose boxes can be swizzled.
template <class Layout>
__device__ Layout& shared_layout()
{
    extern __shared__ __align__(swizzle_bytes) unsigned char layout[];
    return *reinterpret_cast<Layout*>(layout);
}

/// The address in shared memory that instructions take.
__device__ inline std::uint32_t address(void const* at)
{
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
}

/// Makes what this thread has written to shared memory visible to copy engine and tensor cores,
/// which others may start behind a barrier. PTX: membar/fence, fence.proxy.async.
__device__ inline void publish_writes()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Waits for the other threads of a warpgroup; `id` is from 1 to 15, and another for each of them.
/// PTX: bar, barrier.
__device__ inline void sync_warpgroup(int id)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(warpgroup) : "memory");
}

/// Writes four squares of 8 x 8 elements: lane l holds elements 2 (l % 4) and the one after it of
/// row l / 4 of each, and row l % 8 of square l / 8 goes to where lane l says. PTX: stmatrix.
__device__ inline void store_squares(void* row, std::uint32_t first, std::uint32_t second,
                                     std::uint32_t third, std::uint32_t fourth)
{
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address(row)),
        "r"(first), "r"(second), "r"(third), "r"(fourth)
        : "memory");
}

// --- barriers ------------------------------------------------------------------------------------

/// A barrier in shared memory. A phase of it ends when so many threads have arrived as `init` says,
/// and so many bytes as they expect. Phases have parity 0 and 1 in turns, the first has 0; waiting
/// for parity 1 on a new barrier lets through at once. PTX: mbarrier.
struct Barrier
{
    std::uint64_t state;

    /// By one thread, before `publish_barriers`. PTX: mbarrier.init.
    __device__ void init(int arrivals)
    {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address(this)), "r"(arrivals)
                     : "memory");
    }

    /// PTX: mbarrier.arrive.
    __device__ void arrive()
    {
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(this)) : "memory");
    }

    /// Arrives at the same barrier of block `rank` of the cluster. Without a scope in its name the
    /// instruction orders nothing beyond the block: tensor cores have read by then, and the copy
    /// engine writes, so there is nothing to flush. PTX: mbarrier.arrive, mapa.
    __device__ void arrive_at(int rank)
    {
        asm volatile("{\n"
                     ".reg .b32 remote;\n"
                     "mapa.shared::cluster.u32 remote, %0, %1;\n"
                     "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
                     "}" ::"r"(address(this)),
                     "r"(rank)
                     : "memory");
    }

    /// Arrives, and lets the phase last until so many bytes have come, too.
    /// PTX: mbarrier.arrive.expect_tx.
    __device__ void expect(int bytes)
    {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(this)),
                     "r"(bytes)
                     : "memory");
    }

    /// Arrives when all that this thread has begun to copy by `cp.async` has come.
    /// PTX: cp.async.mbarrier.arrive.
    __device__ void arrive_when_copied()
    {
        asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(address(this))
                     : "memory");
    }

    /// Waits for the end of the phase with this parity. PTX: mbarrier.try_wait.
    __device__ void wait(int parity)
    {
        asm volatile("{\n"
                     ".reg .pred ended;\n"
                     "again:\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
                     "@!ended bra again;\n"
                     "}" ::"r"(address(this)),
                     "r"(parity)
                     : "memory");
    }
};

/// Shows barriers that this thread has begun to the copy engine and to the cluster, whose threads
/// then meet. PTX: membar/fence, fence.mbarrier_init.
__device__ inline void publish_barriers()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Which of the stages of a pipeline is next, and the parity of its barriers.
template <int stages>
struct Turn
{
    int stage = 0;
    int parity = 0;

    __device__ void operator++()
    {
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
};

// --- launches ------------------------------------------------------------------------------------

/// Lets the next kernel of the stream begin as soon as all blocks have come here and it has room,
/// if it was launched with programmatic stream serialization. PTX: griddepcontrol.
__device__ inline void let_next_begin()
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

/// In a kernel that begins early: waits until all that was put into the stream before is done and
/// can be seen.
__device__ inline void wait_for_previous()
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

// --- bytes ---------------------------------------------------------------------------------------

/// Copies so many bytes, a multiple of 16 that begin at multiples of 16, to shared memory; the
/// barrier gets them. PTX: cp.async.bulk.
__device__ inline void load_bytes(void* to, void const* from, int bytes, Barrier& barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(address(to)),
                 "l"(from), "r"(bytes), "r"(address(&barrier))
                 : "memory");
}

/// Copies 16 bytes to shared memory without a register: so many that are `there`, and zeros. Both
/// begin at multiples of 16. PTX: cp.async.
__device__ inline void copy_bytes(void* to, void const* from, int there)
{
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(address(to)),
                 "l"(from), "r"(there)
                 : "memory");
}

// --- boxes ---------------------------------------------------------------------------------------

/// Fetches what the copy engine knows of a matrix, so that its first box need not wait for it.
/// PTX: prefetch, prefetchu.
__device__ inline void prefetch(CUtensorMap const& map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// Copies a box of a matrix to shared memory, the first element of which is (row, column), and
/// zeros where the matrix has ended; the barrier gets its bytes. PTX: cp.async.bulk.tensor.
__device__ inline void load_box(void* to, CUtensorMap const& from, int row, int column,
                                Barrier& barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(address(to)),
                 "l"(&from), "r"(column), "r"(row), "r"(address(&barrier))
                 : "memory");
}

/// The same for the blocks of the cluster whose bits are in `ranks`: each gets the box, and its
/// barrier the bytes, at the address that they have in this block.
__device__ inline void load_box(void* to, CUtensorMap const& from, int row, int column,
                                Barrier& barrier, std::uint16_t ranks)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(address(to)),
                 "l"(&from), "r"(column), "r"(row), "r"(address(&barrier)), "h"(ranks)
                 : "memory");
}

/// Copies a box from shared memory to a matrix, but for what lies beyond its ends. To be committed
/// and waited for by the same thread. PTX: cp.async.bulk.tensor.
__device__ inline void store_box(CUtensorMap const& to, int row, int column, void const* from)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to),
        "r"(column), "r"(row), "r"(address(from))
        : "memory");
}

/// PTX: cp.async.bulk.commit_group.
__device__ inline void commit_stores()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Waits until what this thread stores has been read, so that its place is free. PTX:
/// cp.async.bulk.wait_group.
__device__ inline void wait_until_read()
{
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

// --- products ------------------------------------------------------------------------------------

/// All warps of the warpgroup keep no more than so many registers a thread, or get so many: what
/// some give away others can take. Multiples of 8. PTX: setmaxnreg.
template <int count>
__device__ void keep_registers()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count>
__device__ void take_registers()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

/// An operand that lies in boxes whose rows have so many `bytes`: where it begins, and bytes from
/// its box to the next one, which is asked for where it is `transposed` and longer than a row. PTX:
/// Asynchronous Warpgroup Level Matrix Instructions, Matrix Descriptor Format.
template <int bytes = row_bytes>
__device__ std::uint64_t operand(void const* at, int to_next_box = 16)
{
    static_assert(bytes == 128 || bytes == 64 || bytes == 32);
    constexpr std::uint64_t swizzle = bytes == 128 ? 1 : bytes == 64 ? 2 : 3;
    return std::uint64_t{(address(at) & 0x3ffff) >> 4} |
           static_cast<std::uint64_t>(to_next_box >> 4) << 16 |
           std::uint64_t{8 * bytes >> 4} << 32 | swizzle << 62;
}

/// Before the first product, and where sums were touched since the last. PTX: wgmma.fence.
__device__ inline void begin_products()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// PTX: wgmma.commit_group.
__device__ inline void commit_products()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Waits until no more than so many committed groups of products are under way. PTX:
/// wgmma.wait_group.
template <int groups>
__device__ void wait_for_products()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}

// The first N operands of an instruction by their numbers, and N sums from `i` on.
#define NUMBERS_4 "%0, %1, %2, %3"
#define NUMBERS_8 NUMBERS_4 ", %4, %5, %6, %7"
#define NUMBERS_16 NUMBERS_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define NUMBERS_32                                                                                 \
    NUMBERS_16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define NUMBERS_64                                                                                 \
    NUMBERS_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"  \
               ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define NUMBERS_96                                                                                 \
    NUMBERS_64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"  \
               ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define NUMBERS_128                                                                                \
    NUMBERS_96                                                                                     \
    ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111" \
    ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126"   \
    ", %127"
#define SUMS_4(i) "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3])
#define SUMS_8(i) SUMS_4(i), SUMS_4(i + 4)
#define SUMS_16(i) SUMS_8(i), SUMS_8(i + 8)
#define SUMS_32(i) SUMS_16(i), SUMS_16(i + 16)
#define SUMS_64(i) SUMS_32(i), SUMS_32(i + 32)
#define SUMS_96(i) SUMS_64(i), SUMS_32(i + 64)
#define SUMS_128(i) SUMS_64(i), SUMS_64(i + 64)

// The instruction for one type and width, whose operands behind `count` sums have numbers a to d.
#define PRODUCT_OF(type, columns, count, a, b, c, d, e)                                            \
    asm volatile("{\n"                                                                             \
                 ".reg .pred adds;\n"                                                              \
                 "setp.ne.b32 adds, %" #c ", 0;\n"                                                 \
                 "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." #type "." #type           \
                 " {" NUMBERS_##count "}, %" #a ", %" #b ", adds, 1, 1, %" #d ", %" #e ";\n"       \
                                      "}"                                                          \
                 : SUMS_##count(0)                                                                 \
                 : "l"(of_a), "l"(of_b), "r"(static_cast<int>(adds)), "n"(transposed_a),           \
                   "n"(transposed_b))

#define PRODUCT(columns, count, a, b, c, d, e)                                                     \
    template <class T, int transposed_a = 0, int transposed_b = 1>                                 \
    __device__ void multiply(float(&sum)[count], std::uint64_t of_a, std::uint64_t of_b,           \
                             bool adds)                                                            \
    {                                                                                              \
        if constexpr (std::is_same_v<T, base::bf16>) {                                             \
            PRODUCT_OF(bf16, columns, count, a, b, c, d, e);                                       \
        } else {                                                                                   \
            static_assert(std::is_same_v<T, base::fp16>);                                          \
            PRODUCT_OF(f16, columns, count, a, b, c, d, e);                                        \
        }                                                                                          \
    }

/// `sum = a b`, or `sum += a b` if it `adds`, of 64 x 16 and 16 x `columns` elements, in a row of
/// the tensor cores' work that a commit ends. Thread t of the warpgroup has sums 4 x to 4 x + 3 of
/// columns 8 x + 2 (t % 4) and the one after it, two of row 16 (t / 32) + t % 32 / 4 and two of the
/// eighth row after that. Rows of boxes run along the sum's depth, or across it for an operand that
/// is `transposed`: rows of a row-major `a` run along, of a row-major `b` across. PTX:
/// wgmma.mma_async.
PRODUCT(8, 4, 4, 5, 6, 7, 8)
PRODUCT(16, 8, 8, 9, 10, 11, 12)
PRODUCT(32, 16, 16, 17, 18, 19, 20)
PRODUCT(64, 32, 32, 33, 34, 35, 36)
PRODUCT(128, 64, 64, 65, 66, 67, 68)
PRODUCT(192, 96, 96, 97, 98, 99, 100)
PRODUCT(256, 128, 128, 129, 130, 131, 132)

#undef NUMBERS_4
#undef NUMBERS_8
#undef NUMBERS_16
#undef NUMBERS_32
#undef NUMBERS_64
#undef NUMBERS_96
#undef NUMBERS_128
#undef SUMS_4
#undef SUMS_8
#undef SUMS_16
#undef SUMS_32
#undef SUMS_64
#undef SUMS_96
#undef SUMS_128
#undef PRODUCT_OF
#undef PRODUCT

// --- on the host ---------------------------------------------------------------------------------

/// What the copy engine knows of a matrix: where it is, and boxes of so many rows and columns of
/// it, which are swizzled in shared memory where their rows have 32, 64 or 128 bytes. Rows begin at
/// multiples of 16 bytes. The L2 fetches `fetched` of memory at a time. Throws std::runtime_error
/// if the driver refuses. CUDA driver API: cuTensorMapEncodeTiled.
template <class T>
CUtensorMap boxes_of(Matrix<T const> const& m, int rows, int columns, CUtensorMapDataType type,
                     CUtensorMapL2promotion fetched)
{
    static auto const encode = [] {
        void* found = nullptr;
        cudaDriverEntryPointQueryResult result{};
        cuda::check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                                     cudaEnableDefault, &result));
        if (result != cudaDriverEntryPointSuccess) {
            throw std::runtime_error{"this driver knows no cuTensorMapEncodeTiled"};
        }
        return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found);
    }();
    auto const bytes = columns * sizeof(T);
    auto const swizzle = bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                         : bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                         : bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                       : CU_TENSOR_MAP_SWIZZLE_NONE;
    cuuint64_t const size[]{static_cast<cuuint64_t>(m.columns), static_cast<cuuint64_t>(m.rows)};
    cuuint64_t const stride[]{static_cast<cuuint64_t>(m.stride) * sizeof(T)};
    cuuint32_t const box[]{static_cast<cuuint32_t>(columns), static_cast<cuuint32_t>(rows)};
    cuuint32_t const every[]{1, 1};
    CUtensorMap map{};
    auto const error =
        encode(&map, type, 2, const_cast<T*>(m.data), size, stride, box, every,
               CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, fetched, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (error != CUDA_SUCCESS) {
        throw std::runtime_error{"cuTensorMapEncodeTiled: error " + std::to_string(error) +
                                 " for a matrix of " + size_text(m)};
    }
    return map;
}

/// The same of elements of 16 bits.
template <class T>
CUtensorMap boxes_of(Matrix<T const> const& m, int rows, int columns)
{
    static_assert(std::is_same_v<T, base::bf16> || std::is_same_v<T, base::fp16>);
    return boxes_of(m, rows, columns,
                    std::is_same_v<T, base::bf16> ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                  : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                    CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
}

} // namespace dense::gpu
