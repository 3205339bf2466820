#pragma once

#include "dense/gpu/hopper.cuh"

/// \file
/// What `hopper.cuh` lacks for products of floats in TF32: numbers of 32 bits of which the tensor
/// cores take the upper 19, a sign, 8 bits of exponent and 10 behind the point.

namespace dense::gpu {

/// The nearest number of TF32; of two the one farther from 0. PTX: cvt.
__device__ inline std::uint32_t nearest_tf32(float value)
{
    std::uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
    return bits;
}

/// What the tensor cores take of a number, and what they leave of it, which is exact.
__device__ inline float truncated_to_tf32(float value)
{
    return __uint_as_float(__float_as_uint(value) & 0xffffe000);
}

__device__ inline float4 rest_of_tf32(float4 x)
{
    return {x.x - truncated_to_tf32(x.x), x.y - truncated_to_tf32(x.y),
            x.z - truncated_to_tf32(x.z), x.w - truncated_to_tf32(x.w)};
}

/// Copies a float from memory to shared memory without a register, or a zero if it is not there:
/// then nothing is read. PTX: cp.async.
__device__ inline void copy_float(float* to, float const* from, bool is_there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address(to)), "l"(from),
                 "r"(is_there ? 4 : 0)
                 : "memory");
}

/// Lets the barrier count this thread as soon as its asynchronous copies so far are done, one of
/// the arrivals that it was begun with. PTX: cp.async.mbarrier.arrive.
__device__ inline void arrive_when_copied(Barrier& barrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(address(&barrier))
                 : "memory");
}

/// Waits for `threads` of the block, whole warps. `id` is from 1 to 15. PTX: bar, barrier.
template <int threads>
__device__ void sync_threads(int id)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory");
}

/// Sums have their values once a wait is over, of which the compiler does not know: keeps their
/// uses behind the wait.
template <int count>
__device__ void settle(float (&sum)[count])
{
#pragma unroll
    for (float& one : sum) {
        asm volatile("" : "+f"(one)::"memory");
    }
}

// The first operands of an instruction by their numbers, and as many sums.
#define NUMBERS_32                                                                                 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "   \
    "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define NUMBERS_64                                                                                 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "   \
    "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, "   \
    "%38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, "   \
    "%56, %57, %58, %59, %60, %61, %62, %63"
#define NUMBERS_128                                                                                \
    NUMBERS_64                                                                                     \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, " \
    "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, "   \
    "%100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, "   \
    "%115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define SUMS_4(i) "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3])
#define SUMS_16(i) SUMS_4(i), SUMS_4(i + 4), SUMS_4(i + 8), SUMS_4(i + 12)
#define SUMS_32(i) SUMS_16(i), SUMS_16(i + 16)
#define SUMS_64(i) SUMS_16(i), SUMS_16(i + 16), SUMS_16(i + 32), SUMS_16(i + 48)
#define SUMS_128(i) SUMS_64(i), SUMS_64(i + 64)

#define PRODUCT(columns, count, a0, a1, a2, a3, b, c)                                              \
    __device__ inline void multiply(float(&sum)[count], std::uint32_t const(&of_a)[4],             \
                                    std::uint64_t of_b, bool adds)                                 \
    {                                                                                              \
        asm volatile("{\n"                                                                         \
                     ".reg .pred adds;\n"                                                          \
                     "setp.ne.b32 adds, %" #c ", 0;\n"                                             \
                     "wgmma.mma_async.sync.aligned.m64n" #columns "k8.f32.tf32.tf32"               \
                     " {" NUMBERS_##count "}, {%" #a0 ", %" #a1 ", %" #a2 ", %" #a3 "}, %" #b      \
                                          ", adds, 1, 1;\n"                                        \
                                          "}"                                                      \
                     : SUMS_##count(0)                                                             \
                     : "r"(of_a[0]), "r"(of_a[1]), "r"(of_a[2]), "r"(of_a[3]), "l"(of_b),          \
                       "r"(static_cast<int>(adds)));                                               \
    }

/// `sum = a b`, or `sum += a b` if it `adds`, of 64 x 8 and 8 x `columns` elements. Thread t of the
/// warpgroup holds of `a`, with r = 16 (t / 32) + t % 32 / 4, elements (r, t % 4), (r + 8, t % 4),
/// (r, t % 4 + 4), (r + 8, t % 4 + 4), which stay as they are until the product is done. Columns of
/// `b` are rows of its box: in 32 bits there is no other way. Sums are as those of 16 bits. PTX:
/// wgmma.mma_async.
PRODUCT(64, 32, 32, 33, 34, 35, 36, 37)
PRODUCT(128, 64, 64, 65, 66, 67, 68, 69)
PRODUCT(256, 128, 128, 129, 130, 131, 132, 133)

#undef NUMBERS_32
#undef NUMBERS_64
#undef NUMBERS_128
#undef SUMS_4
#undef SUMS_16
#undef SUMS_32
#undef SUMS_64
#undef SUMS_128
#undef PRODUCT

/// What the copy engine knows of floats: boxes of so many rows and 32 columns. If it `rounds`, it
/// puts the nearest numbers of TF32 into shared memory.
inline CUtensorMap float_boxes_of(Matrix<float const> const& m, int rows, bool rounds)
{
    return boxes_of(m, rows, row_bytes / static_cast<int>(sizeof(float)),
                    rounds ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                    CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
}

} // namespace dense::gpu
