#pragma once

#include "sparse/csr.hpp"
#include "spmv/formats/name.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace spmv {

/// What a plan is told beside the matrix.
struct PlanOptions
{
    /// Threads that multiply together, 8192 at most; 0 for as many as OpenMP offers. A matrix so
    /// small that waking them should take longer than they save gets one, unless a format is asked
    /// for or there are too few multiplies to look.
    int threads = 0;

    /// Multiplies that the matrix will see, 0 or more: a format that takes longer to build than it
    /// can save is not chosen.
    double multiplies = std::numeric_limits<double>::infinity();

    /// Whether other work between two multiplies takes the matrix out of the caches, even if they
    /// could hold it.
    bool cold = false;

    /// Whether a clock decides among the best six formats, and those of the winner's family, as
    /// many as the expected multiplies pay for. Else the table of costs does, the same matrix
    /// always gets the same format, and CSR is left only for a gain that exceeds the error of the
    /// table. Nothing is timed if a format is asked for. For `cold` multiplies caches are swept
    /// each time; the table decides where that alone takes too long.
    bool timed = true;

    /// One of `plan_formats()`, in place of a choice; empty to choose.
    std::string format = {};

    /// Instruction set of the kernels, "avx512_gather", "avx512", "avx2" or "baseline"; empty for
    /// the best that the processor has.
    std::string kernels = {};

    /// Stores the values of a double matrix in single precision and adds up in double. The result
    /// is that of the rounded matrix.
    bool narrow_values = false;

    /// Seconds from any beginning; null for the machine's own clock. For tests of what decides.
    double (*clock)() = nullptr;
};

/// `y = A x` at the speed of the machine: the library's front door.
///
/// Reads the structure of a matrix, ranks formats by a neutral table of costs, times the best few,
/// keeps the fastest if its conversion pays, and says why. Where a multiply should take long
/// enough, each thread begins with several shares of its part, and one that is done takes those
/// that others have not begun. A plan may be used by several threads of the caller at once; for a
/// fixed number of threads its results are the same bit for bit, whichever thread takes what, and
/// so are those of another plan for the same matrix, but where a clock decided. `T` is float or
/// double.
///
/// A process that forks: its child may go on with plans of one thread. OpenMP's threads do not come
/// along; where the parent has used them, as making a plan does, GCC's OpenMP waits for them for
/// ever in the child when a plan of several threads multiplies, and when one is made, unless
/// `omp_set_num_threads(1)` came first. A child of a parent that has not used them is free.
template <class T>
class Plan
{
public:
    /// The arrays of `given` must outlive a plan that borrows them, and must not change. Rows may
    /// have their columns in any order and name one several times, which means the sum: the plan
    /// then works on a copy with sorted rows.
    ///
    /// Throws `std::invalid_argument`, with what was found and expected, if the options make no
    /// sense or `given` is no matrix: sizes below 0, other than `rows` + 1 offsets that begin with
    /// 0, never fall and end with the number of columns and values, or a column that there is not.
    /// A part of another matrix whose offsets begin behind 0 is none, nor is a default `CsrView`.
    /// Throws `std::length_error` if a format that was asked for cannot hold the matrix,
    /// `std::bad_alloc` if memory is short.
    explicit Plan(sparse::CsrView<T> const& given, PlanOptions const& options = {});
    ~Plan();
    Plan(Plan&&) noexcept;
    Plan& operator=(Plan&&) noexcept;

    /// Computes `y = A x`. `x` has as many elements as the matrix has columns, `y` as many as it
    /// has rows; they do not overlap. Throws `std::invalid_argument` else, and `std::bad_alloc`.
    ///
    /// In every format a row is infinite or NaN exactly where the products of its entries, stored
    /// zeros among them, add up to that: what a format adds to fill rows up reaches no result. Rows
    /// that are not finite may take several times as long.
    void operator()(std::span<T const> x, std::span<T> y) const;

    /// Name of the chosen format.
    std::string_view format() const;

    /// Whether multiplies read the arrays that the plan was made from; else the caller may free
    /// them.
    bool borrows() const;

    /// Threads of a multiply.
    int threads() const;

    /// Bytes of the matrix in the chosen format, which for CSR are the caller's if it borrows them.
    std::size_t bytes() const;

    /// Seconds until the plan stood: choosing, converting, timing.
    double seconds() const;

    /// One line: what was chosen, and of each candidate the microseconds that were predicted for a
    /// multiply and those that were timed. Numbers are written as in C's locale.
    std::string explain() const;

private:
    struct State;
    std::unique_ptr<State const> state_;
};

} // namespace spmv
