#pragma once

#include "spmv/plan_formats.hpp"

#include "sparse/csr.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace spmv {

/// A format, how it is built, and what one multiply with it is expected to take.
struct Estimate
{
    std::string_view format; ///< name in `plan_format_table`
    BuildOptions build = {};
    double bytes = 0;        ///< of the matrix in this format
    double nanoseconds = 0;  ///< of a multiply by all threads
    double conversion = 0;   ///< nanoseconds until the format stands
    std::string detail = {}; ///< half a sentence about the structure that it uses
};

/// What is asked of the model.
struct ModelOptions
{
    int threads = 1;            ///< of a multiply
    bool cold = false;          ///< whether a multiply finds the caches empty
    std::string_view only = {}; ///< name of a format: how to build that one; empty: all
};

/// What the formats worth considering are expected to take, in no order. CSR is always among them
/// if all are asked for; if one is, there may be several ways to build it or none.
///
/// The time of a multiply is modelled as that of the processor and that of the memory, whichever
/// is longer, with some of the other. The processor's is the number of steps of each kind
/// (`plan_steps.hpp`), counted on a sample of the rows, by the time of a step; the memory's is what
/// has to be read, by the bandwidth of the cache or memory that holds it. No clock is read: the
/// same matrix always gets the same format.
template <class T>
std::vector<Estimate> estimate_formats(sparse::CsrView<T> const& a, ModelOptions const& options);

/// The format with which `multiplies` multiplies and the conversion take least time.
Estimate const& best_estimate(std::vector<Estimate> const& estimates, double multiplies);

} // namespace spmv
