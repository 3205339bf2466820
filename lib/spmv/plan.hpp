#pragma once

#include "sparse/csr.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spmv {

/// What a plan is told beside the matrix.
struct PlanOptions
{
    /// Threads that multiply together; 0 for as many as OpenMP offers. A matrix so small that
    /// waking them should take longer than they save gets one, unless a format is asked for or
    /// there are too few multiplies to look.
    int threads = 0;

    /// Multiplies that the matrix will see: a format that takes longer to build than it can save is
    /// not chosen.
    double multiplies = std::numeric_limits<double>::infinity();

    /// Whether other work between two multiplies takes the matrix out of the caches, even if they
    /// could hold it.
    bool cold = false;

    /// Formats that are built and timed, those first that should be fastest, each in the way that
    /// should be its best. With one, no clock is read, and the same matrix always gets the same
    /// format. Another one is kept if it wins eight of nine rounds; each takes its conversion, a
    /// hundred multiplies or some milliseconds, and room beside the best so far. Nothing is timed
    /// if a format or narrow values are asked for, if the matrix has no nonzeros, for fewer than a
    /// thousand multiplies, and for `cold` ones unless CSR fills the caches twice.
    int trials = 1;

    /// One of `plan_formats()` or of `plan_builds()`, in place of the choice by structure;
    /// empty to choose.
    std::string format = {};

    /// Instruction set of the kernels, "avx512_gather", "avx512", "avx2" or "baseline"; empty for
    /// the best that the processor has.
    std::string kernels = {};

    /// Stores the values of a double matrix in single precision and adds up in double. The result
    /// is that of the rounded matrix.
    bool narrow_values = false;
};

/// A format that a plan knows.
struct FormatName
{
    std::string_view name;    ///< for `PlanOptions::format`
    std::string_view excerpt; ///< of its marked kernel, which formats may share
};

/// All formats that a plan knows.
std::vector<FormatName> plan_formats();

/// Names of the ways to build formats that a plan compares for `a`, such as `bcsr_3x3`; of formats
/// that can be built in one way only, none. Throws `std::invalid_argument` if the options make no
/// sense.
template <class T>
std::vector<std::string> plan_builds(sparse::CsrView<T> const& a, PlanOptions const& options = {});

/// `y = A x` at the speed of the machine: the library's front door.
///
/// Reads the structure of a matrix, chooses format, kernel and split among threads, converts if
/// that pays, and says why. Where a multiply should take long enough, each thread begins with
/// several shares of its part, and one that is done takes those that others have not begun. A plan
/// may be used by several threads of the caller at once; for a fixed number of threads its results
/// are the same bit for bit, whichever thread takes what, and so are those of another plan for the
/// same matrix, but where `trials` let a clock decide. `T` is float or double.
template <class T>
class Plan
{
public:
    /// The arrays of `a` must outlive a plan that borrows them. Throws `std::invalid_argument` if
    /// the options make no sense, `std::length_error` if a format that was asked for cannot hold
    /// the matrix.
    explicit Plan(sparse::CsrView<T> const& a, PlanOptions const& options = {});
    ~Plan();
    Plan(Plan&&) noexcept;
    Plan& operator=(Plan&&) noexcept;

    /// Computes `y = A x`. `x` has as many elements as the matrix has columns, `y` as many as it
    /// has rows; they do not overlap. Throws `std::invalid_argument` for other sizes.
    void operator()(std::span<T const> x, std::span<T> y) const;

    /// Name of the chosen format.
    std::string_view format() const;

    /// Whether multiplies read the arrays that the plan was made from; else the caller may free
    /// them.
    bool borrows() const;

    /// Threads of a multiply.
    int threads() const;

    /// Bytes of the matrix in the chosen format, which for CSR are the caller's.
    std::size_t bytes() const;

    /// Seconds until the plan stood: choosing, converting, and timing others.
    double seconds() const;

    /// One line: what was chosen and why.
    std::string explain() const;

private:
    struct State;
    std::unique_ptr<State const> state_;
};

} // namespace spmv
