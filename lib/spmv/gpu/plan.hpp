#pragma once

#include "spmv/device/csr.hpp"
#include "spmv/formats/name.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spmv::gpu {

/// What a plan is told beside the matrix: as `spmv::PlanOptions`.
struct PlanOptions
{
    /// Multiplies that the matrix will see, 0 or more: a format that takes longer to build than it
    /// can save is not chosen.
    double multiplies = std::numeric_limits<double>::infinity();

    /// Whether a clock decides among the best formats: eight at most, and as many as the expected
    /// multiplies pay for. Else the table of costs does, the same matrix always gets the same
    /// format, and plain CSR is left only for a gain that exceeds the error of the table.
    bool timed = true;

    /// One of `plan_formats()`, in place of a choice; empty to choose.
    std::string format = {};

    /// Whether products with the transpose are wanted: refused, as all formats are laid out by
    /// rows. Make a plan of the transpose itself.
    bool transposed = false;
};

/// A multiply in some format; empty if there is none.
template <class T>
struct Built
{
    std::function<void(T const*, T*, cudaStream_t)> multiply;
    std::size_t bytes = 0; ///< beside the matrix it was made from
};

/// A format, and what one multiply with it is expected to take, in nanoseconds.
struct PlanCandidate
{
    std::string_view format;
    double nanoseconds = 0;
    double cautious = 0;   ///< the same if it is underestimated as far as the table may err
    double conversion = 0; ///< until it stands
    double seconds = 0;    ///< of a multiply as timed; 0 if it was not
};

/// `y = A x` at the speed of a GPU: ranks formats by a neutral table of costs, times the best few,
/// keeps the fastest if its conversion pays, and says why. `T` is float or double.
template <class T>
class Plan
{
public:
    /// Looks at `a` and converts it on the device in `stream`, and returns when the plan stands.
    /// `a` must outlive a plan that borrows it, and nothing may write it then from the first
    /// multiply on.
    ///
    /// Throws `std::invalid_argument`, with what was found and expected, if the options make no
    /// sense or `a` is no matrix with sorted rows: other than `rows` + 1 offsets that begin with 0,
    /// never fall and end with the number of nonzeros, a column that there is not, or columns of a
    /// row that do not ascend. `Csr` sorts a matrix of the host. A plan cannot see whether the
    /// arrays are as long as they should be, have their padding, and are in the device's memory.
    /// Throws `std::length_error` if a format that was asked for cannot hold the matrix.
    Plan(CsrView<T> const& a, cudaStream_t stream, PlanOptions const& options = {});

    /// Computes `y = A x`. One multiply at a time: it waits for nothing, and can be captured in a
    /// graph. `x` has as many elements as the matrix has columns, `y` as many as it has rows, in
    /// the device's memory; throws `std::invalid_argument` if they overlap. In every format a row
    /// is infinite or NaN exactly where the products of its entries add up to that.
    void operator()(T const* x, T* y, cudaStream_t stream) const;

    /// Computes `y = alpha A x + beta y`, as above; `y` is not read if `beta` is 0, nor `x` if
    /// `alpha` is. Reads and writes a vector of rows once or twice more than a product alone. The
    /// first one with both other than 0 allocates such a vector, and so cannot be captured.
    void operator()(T alpha, T const* x, T beta, T* y, cudaStream_t stream) const;

    /// Takes the values of another matrix, of the same structure as the one before: converts it to
    /// the format that was chosen, and returns when that is done. Multiplies that are under way may
    /// finish. Right for any matrix of that size, though another format might then be faster; one
    /// that the format cannot hold is multiplied as CSR. A graph captured before multiplies with
    /// what is no longer there: capture it anew.
    ///
    /// Throws `std::invalid_argument` as the constructor does, and if rows, columns or nonzeros are
    /// not as many as before; the plan then stands as it was.
    void update(CsrView<T> const& a, cudaStream_t stream);

    /// What was chosen.
    std::string_view format() const { return format_; }

    /// Whether multiplies read the arrays that the plan was made from; else the caller may free
    /// them.
    bool borrows() const;

    /// Whether the same operands always give the same bits. In some formats threads add to a row in
    /// the order in which they come. Two plans of one matrix may have chosen different formats.
    bool repeats() const;

    /// Bytes beside the matrix it was made from.
    std::size_t bytes() const { return built_.bytes; }

    /// Seconds until the plan stood: choosing, converting, timing.
    double seconds() const { return seconds_; }

    /// One line: what was chosen, whether results repeat bit for bit, and of each candidate the
    /// microseconds that were predicted for a multiply and those that were timed.
    std::string explain() const;

private:
    void require_apart(T const* x, T const* y) const;
    void keep_first(CsrView<T> const& a, cudaStream_t stream);
    void keep_fastest(CsrView<T> const& a, cudaStream_t stream, double multiplies);

    std::int32_t rows_;
    std::int32_t columns_;
    std::int32_t nonzeros_;
    Built<T> built_;
    std::string_view format_;
    std::vector<PlanCandidate> candidates_;
    mutable std::optional<::cuda::Buffer<T>> product_; ///< before it is added to `beta y`
    double csr_bytes_;
    double seconds_ = 0;
};

} // namespace spmv::gpu
