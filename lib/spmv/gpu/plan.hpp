#pragma once

#include "cuda/stream.hpp"
#include "spmv/gpu/csr.hpp"

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace spmv::gpu {

/// What a plan is told beside the matrix.
struct PlanOptions
{
    /// Multiplies that the matrix will see: a format that takes longer to build than it can save is
    /// not chosen.
    double multiplies = std::numeric_limits<double>::infinity();

    /// "vector", "row_tiles", "small_tiles", "large_tiles", "sell32", "sell16", "diagonals",
    /// "block_sell" or "blocked_coo", in place of the choice by structure; empty to choose.
    std::string format = {};
};

/// What a plan chose.
struct PlanChoice
{
    std::string format;
    std::string detail; ///< why, in a few words
    int lanes = 8;      ///< of the vector kernel
};

/// `y = A x` at the speed of a GPU: reads the structure of a matrix, chooses a format and a kernel,
/// converts if that pays, and says why. `T` is float or double.
template <class T>
class Plan
{
public:
    /// `host` and `a` are the same matrix on the host and on the device; `a` must outlive the plan,
    /// and nothing may write it from the first multiply on.
    /// Throws `std::invalid_argument` for a format that there is not, `std::length_error` if one
    /// that was asked for cannot hold the matrix.
    Plan(sparse::CsrView<T> const& host, CsrView<T> const& a, cudaStream_t stream,
         PlanOptions const& options = {});

    /// Computes `y = A x`. One multiply at a time.
    void operator()(T const* x, T* y, cudaStream_t stream) const { multiply_(x, y, stream); }

    /// What was chosen.
    std::string_view format() const { return format_; }

    /// Bytes beside the matrix it was made from.
    std::size_t bytes() const { return bytes_; }

    /// Seconds that choosing and converting took.
    double seconds() const { return seconds_; }

    /// One line: what was chosen and why.
    std::string explain() const;

private:
    template <class Format>
    void keep(Format format);
    void build_first(std::vector<PlanChoice> const& choices, sparse::CsrView<T> const& host,
                     CsrView<T> const& a, cudaStream_t stream);
    void build(PlanChoice choice, sparse::CsrView<T> const& host, CsrView<T> const& a,
               cudaStream_t stream);

    std::function<void(T const*, T*, cudaStream_t)> multiply_;
    std::string format_;
    std::string detail_;
    double nonzeros_;
    double csr_bytes_;
    std::size_t bytes_ = 0;
    double seconds_ = 0;
};

} // namespace spmv::gpu
