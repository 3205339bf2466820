#pragma once

#include "cuda/stream.hpp"
#include "dense/matrix.hpp"

#include <memory>
#include <string>

namespace peers {

/// cuBLAS and cuBLASLt, where they are found. Matrices are in row-major order, may have gaps
/// between rows, and are in the device's memory. `T` is float, double, base::fp16 or base::bf16;
/// products of 16 bits are added up in float, also where their sums are split.
class CuBlas
{
public:
    CuBlas();
    ~CuBlas();

    std::string missing; ///< why it is not available; empty if it is
    std::string version;

    /// How float operands may be rounded.
    enum class Math
    {
        exact,
        tf32
    };

    /// `c = a b` by `cublasGemmEx`, put into `stream`, with the algorithm that it chooses itself.
    /// Column-major libraries compute the transposed product of swapped operands. `b` is n x k
    /// where it `is_transposed`.
    template <class T>
    void gemm(dense::Matrix<T const> a, dense::Matrix<T const> b, dense::Matrix<T> c, Math math,
              cuda::Stream const& stream, bool is_transposed = false) const;

    /// The same product by cuBLASLt, with one of the algorithms that need no more than 32 MiB.
    template <class T>
    class LtProduct
    {
    public:
        /// Asks the heuristic for its eight best, and takes the first that works.
        LtProduct(CuBlas const& library, dense::Matrix<T const> a, dense::Matrix<T const> b,
                  dense::Matrix<T> c, Math math, bool is_transposed = false);

        /// Times them in turns on these operands, overwrites `c`, and keeps the fastest.
        void tune(cuda::Stream const& stream);

        void operator()(cuda::Stream const& stream) const;

        /// "algorithm 3 of 8"
        std::string choice() const;

    private:
        struct State;
        std::shared_ptr<State> state_;
    };

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace peers
