#pragma once

#include "cuda/stream.hpp"
#include "dense/matrix.hpp"

#include <memory>
#include <string>

namespace peers {

/// cuBLAS and cuBLASLt, where they are found. Matrices are in row-major order and have no gaps; all
/// memory is the device's.
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
        tf32,
        bf16
    };

    /// `c = a b` by `cublasGemmEx`, put into `stream`. Column-major libraries compute the
    /// transposed product of swapped operands.
    template <class T>
    void gemm(dense::Matrix<T const> a, dense::Matrix<T const> b, dense::Matrix<T> c, Math math,
              cuda::Stream const& stream) const;

    /// The same product by cuBLASLt, with the algorithm that its heuristic puts first of those that
    /// need no more than 32 MiB. `T` is float or double.
    template <class T>
    class LtProduct
    {
    public:
        LtProduct(CuBlas const& library, dense::Matrix<T const> a, dense::Matrix<T const> b,
                  dense::Matrix<T> c);
        void operator()(cuda::Stream const& stream) const;

    private:
        struct State;
        std::shared_ptr<State const> state_;
    };

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace peers
