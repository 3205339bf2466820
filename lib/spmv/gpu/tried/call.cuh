// Included behind somebody's kernel: what programs of this repository call (`spmv::gpu::Tried`).

#include <cstdio>
#include <cstdlib>

namespace memwall_call {

/// Ends the program with what CUDA says, as a kernel that cannot run has no result.
inline void check(cudaError_t result, char const* what)
{
    if (result != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
        std::exit(2);
    }
}

/// A number that the kernel's file defines, within 1 and `most`.
inline unsigned number(int const& symbol, char const* name, int most)
{
    int value = 0;
    check(cudaMemcpyFromSymbol(&value, symbol, sizeof value), name);
    if (value < 1 || value > most) {
        std::fprintf(stderr, "%s: found %d, expected 1 to %d\n", name, value, most);
        std::exit(2);
    }
    return static_cast<unsigned>(value);
}

/// Both numbers. They are read before the first launch, as a graph that is recorded allows no copy.
struct Shape
{
    unsigned threads = number(threads_per_block, "threads_per_block", 1024);
    unsigned rows = number(rows_per_block, "rows_per_block", 1 << 20);
};

inline Shape const& shape()
{
    static Shape const read;
    return read;
}

} // namespace memwall_call

extern "C" void memwall_tried_prepare()
{
    memwall_call::shape();
}

extern "C" void memwall_tried_on_gpu(std::int32_t rows, std::int32_t columns,
                                     std::int32_t const* row_ptr, std::int32_t const* col,
                                     double const* values, double const* x, double* y, void* stream)
{
    auto const& shape = memwall_call::shape();
    auto const blocks = (static_cast<unsigned>(rows) + shape.rows - 1) / shape.rows;
    if (blocks > 0) {
        spmv<<<blocks, shape.threads, 0, static_cast<cudaStream_t>(stream)>>>(
            rows, columns, row_ptr, col, values, x, y);
        memwall_call::check(cudaGetLastError(), "spmv");
    }
}
