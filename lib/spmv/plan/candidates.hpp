#pragma once

#include "spmv/plan/formats.hpp"
#include "spmv/plan/long_rows.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace spmv {

/// A format, how it would be built, and what one multiply with it is expected to take.
template <class T>
struct Candidate
{
    PlanFormat<T> const* format;
    BuildOptions build = {};
    double nanoseconds = 0; ///< of a multiply by all threads, by the table of costs
    double cautious = 0;    ///< the same if it is underestimated as far as `margin` says
    double conversion = 0;  ///< nanoseconds until the format stands
    double seconds = 0;     ///< of a multiply as timed; 0 if it was not
};

/// What is asked of formats.
struct Wanted
{
    int threads = 1;              ///< of a multiply
    bool cold = false;            ///< whether a multiply finds the caches empty
    std::string_view kernels;     ///< name of the instruction set
    std::string_view format = {}; ///< the only one; empty: all
};

/// The formats that suit the matrix and have costs, the one that should be fastest first, or the
/// one that was asked for. Bytes and runs are those of a sample of the rows; no clock is read.
/// Throws `std::length_error` if a format that was asked for does not suit the matrix.
template <class T>
std::vector<Candidate<T>> candidates(sparse::CsrView<T> const& a, RowLengths const& lengths,
                                     Wanted const& wanted);

} // namespace spmv
