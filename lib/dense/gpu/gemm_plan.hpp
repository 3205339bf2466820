#pragma once

#include "cuda/buffer.hpp"
#include "dense/gpu/gemm.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dense::gpu {

/// What a plan is told beside the product: as `spmv::gpu::PlanOptions`.
struct GemmPlanOptions
{
    /// Products that it will make, 0 or more: no more time is spent on the choice than they pay
    /// for, and no more than 400 products take, or 20 milliseconds.
    double multiplies = std::numeric_limits<double>::infinity();

    /// Whether a clock decides among the best kernels: eight at most. Else what they are expected
    /// to take does, and the plan is what `gemm` would do.
    bool timed = true;

    /// Whether only kernels are chosen whose results repeat bit for bit, and what `gemm` would
    /// take.
    bool repeats = false;

    /// One of `candidates()` of another plan, in place of a choice; empty to choose.
    std::string kernel = {};
};

/// A kernel with what it needs, and what one product by it takes.
struct GemmCandidate
{
    std::string kernel;
    double microseconds = 0; ///< that an H200 is expected to take; 0 where no model tells

    /// The least of some rounds, one product behind the other with operands in the cache as far as
    /// they fit; 0 if it was not timed.
    double seconds = 0;
};

/// `c = alpha op(a) op(b) + beta c` of one shape, again and again: lists kernels that can make it,
/// times the best few, keeps the fastest and the memory that it needs, and says why. `T` is float,
/// double, base::fp16 or base::bf16.
///
/// A plan belongs to the device that is current when it is made, which has to be current at each
/// product. It is used by one thread at a time, and in two streams only one behind the other, as
/// it has memory of its own. Graphs that its products were captured in must not outlive it, and
/// count as products.
template <class T>
class GemmPlan
{
public:
    /// Chooses for operands as these: of their sizes, distances of rows and alignment; `product`
    /// has transposes, precision, alpha and beta, and no workspace. Where a clock decides, `a` and
    /// `b` are read once all work of `stream` is done, `c` is neither read nor written, and a
    /// second one of its size is allocated meanwhile. Returns when the plan stands, and so cannot
    /// be captured.
    ///
    /// Throws std::invalid_argument as `gemm` does, for a workspace, for `multiplies` below 0 or
    /// not a number, and for a kernel that is not among the candidates for such operands on this
    /// device; cuda::Error if there is not enough memory.
    GemmPlan(Operand<T> a, Operand<T> b, Matrix<T> c, cuda::Stream const& stream,
             GemmOptions const& product = {}, GemmPlanOptions const& options = {});

    /// One that was moved from can only be assigned to.
    GemmPlan(GemmPlan&&) = default;
    GemmPlan& operator=(GemmPlan&&) = default;

    /// The product. Waits for nothing, and can be captured in a graph. Throws std::invalid_argument
    /// as `gemm` does, and for operands of other sizes or distances of rows than those that the
    /// plan was made for, or at smaller powers of two up to 16 bytes.
    void operator()(Operand<T> a, Operand<T> b, Matrix<T> c, cuda::Stream const& stream) const;

    /// The same with another alpha and beta. Of floats and doubles the first one with a beta other
    /// than 0 allocates memory of the size of `c` if that of the plan's product is 0, and then
    /// cannot be captured.
    void operator()(double alpha, Operand<T> a, Operand<T> b, double beta, Matrix<T> c,
                    cuda::Stream const& stream) const;

    /// What was chosen; empty where there is nothing to multiply.
    std::string const& kernel() const { return kernel_; }

    /// Whether the same operands always give the same bits. Blocks of some kernels add to an
    /// element in the order in which they come. Two plans may have chosen different kernels.
    bool repeats() const { return repeats_; }

    /// Bytes of the device that the plan keeps: operands that are transposed or copied, and
    /// products before they are added to `beta c`.
    std::size_t bytes() const
    {
        return (memory_ ? memory_->bytes() : 0) + (before_beta_ ? before_beta_->bytes() : 0);
    }

    /// Seconds until the plan stood.
    double seconds() const { return seconds_; }

    /// The best of the kernels that can, what `gemm` would take first; empty where there is nothing
    /// to multiply.
    std::vector<GemmCandidate> const& candidates() const { return candidates_; }

    /// One line: what was chosen, whether results repeat bit for bit, and of each candidate the
    /// microseconds that were expected of an H200 and those that were timed here.
    std::string explain() const;

private:
    struct Way;

    /// What is asked of an operand.
    struct Place
    {
        std::int64_t rows, columns, stride;
        std::size_t alignment; ///< bytes, up to 16
    };

    static Place place_of(Matrix<T const> const& m);
    static void require_place(char const* name, Matrix<T const> const& m, Place const& place);
    std::vector<Way> ways(Matrix<T const> const& a, Matrix<T const> const& b,
                          Matrix<T> const& c) const;
    void keep_fastest(std::vector<Way> const& all, Matrix<T const> const& a,
                      Matrix<T const> const& b, Matrix<T> const& c, cuda::Stream const& stream,
                      double multiplies);
    void keep(Way const& way);
    void reserve_product() const;
    void multiply(Way const& way, double alpha, Matrix<T const> const& a, Matrix<T const> const& b,
                  double beta, Matrix<T> const& c, cuda::Stream const& stream) const;
    std::int64_t depth() const;

    GemmOptions product_;
    Place a_, b_, c_;
    std::shared_ptr<Way const> way_;
    std::string kernel_;
    bool repeats_ = true;
    std::vector<GemmCandidate> candidates_;
    mutable std::optional<cuda::Buffer<std::byte>> memory_; ///< of operands that are copied
    mutable std::optional<cuda::Buffer<T>> before_beta_;    ///< the product before it is added
    double seconds_ = 0;
};

} // namespace dense::gpu
