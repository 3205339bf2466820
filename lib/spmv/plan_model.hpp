#pragma once

#include "spmv/plan_formats.hpp"
#include "spmv/processor.hpp"

#include "sparse/csr.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace spmv {

/// A format, how it is built, and what one multiply with it is expected to take.
struct Estimate
{
    std::string_view format; ///< name in `plan_format_table`
    std::string name = {};   ///< of the format built in this way, such as "bcsr_3x3"
    BuildOptions build = {};
    double bytes = 0;        ///< of the matrix in this format
    double nanoseconds = 0;  ///< of a multiply by all threads
    double imbalance = 1;    ///< work of the thread that has most of it over an equal share
    double conversion = 0;   ///< nanoseconds until the format stands
    std::string detail = {}; ///< half a sentence about the structure that it uses

    std::vector<Term> core = {};   ///< what the processor does
    std::vector<Term> memory = {}; ///< what comes from memory or a shared cache meanwhile

    /// How well both overlap: the time is the norm of this order of theirs.
    double overlap = 2;
};

/// What is asked of the model.
struct ModelOptions
{
    int threads = 1;            ///< of a multiply
    bool cold = false;          ///< whether a multiply finds the caches empty
    std::string_view only = {}; ///< name of a format, or of one way to build it; empty: all
};

/// What the formats worth considering are expected to take on `processor`, in no order. CSR is
/// always among them if all are asked for; if one is, there may be several ways to build it, or one
/// of which nothing is expected.
///
/// The time of a multiply is modelled as that of the processor and that of the memory, or of a
/// shared cache that is as slow, whichever is longer, with some of the other. Both are sums of
/// counts, each times a constant of the processor: what kernels do is counted on a sample of the
/// rows (`plan_steps.hpp`), bytes follow from the format. No clock is read: the same matrix always
/// gets the same format.
template <class T>
std::vector<Estimate> estimate_formats(sparse::CsrView<T> const& a, Processor const& processor,
                                       ModelOptions const& options);

/// The format with which `multiplies` multiplies and the conversion take least time.
Estimate const& best_estimate(std::vector<Estimate> const& estimates, double multiplies);

} // namespace spmv
