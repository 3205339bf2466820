#pragma once

#include "spmv/formats/kernels.hpp"
#include "spmv/plan/parted.hpp"

#include <memory>
#include <span>

namespace spmv {

/// One format as a plan sees it: an entry of the list, its types forgotten.
template <class T>
struct PlanFormat
{
    FormatName name;
    bool borrows; ///< as in `FormatDefaults`, the next four too
    bool rounds;
    bool keeps_rows;
    int most_shares;
    std::string_view needs;

    /// Converts `a`, which must outlive what is made. Throws `std::length_error` if the format
    /// cannot hold it, with a reason for the pages: a phrase of more than 20 characters.
    std::unique_ptr<Parted<T>> (*make)(sparse::CsrView<T> const& a, FormatKernels<T> const& kernels,
                                       BuildOptions const& options);

    /// Bytes of a sample, and how the matrix is best built. Throws `std::length_error` if the
    /// format does not suit it.
    double (*bytes)(sparse::CsrView<T> const& sample, BuildOptions& options);
};

/// All formats. `T` is float or double.
template <class T>
std::span<PlanFormat<T> const> plan_format_table();

/// The one of this name. Throws `std::invalid_argument` if there is none.
template <class T>
PlanFormat<T> const& format_named(std::string_view name);

/// As above, of those in `plan_formats()`.
template <class T>
PlanFormat<T> const& format_to_ask_for(std::string_view name);

/// Pieces of long rows, as rows, by runs or in CSR, built as the other rows are.
template <class T>
std::unique_ptr<Parted<T>> make_pieces(sparse::Csr<T> pieces, FormatKernels<T> const& kernels,
                                       BuildOptions const& options);

} // namespace spmv
