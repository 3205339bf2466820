#pragma once

#include "spmv/format_kernels.hpp"
#include "spmv/parted.hpp"

#include "sparse/bcsr.hpp"
#include "sparse/csr.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>

namespace spmv {

/// The cache of a core that tiles and small matrices are made for.
inline constexpr std::size_t core_cache_bytes = std::size_t{1} << 20;

/// How a format is built; each format heeds what concerns it.
struct BuildOptions
{
    int threads = 1;               ///< that will multiply
    int shares = 1;                ///< parts that each of them begins with
    bool narrow_values = false;    ///< doubles stored in single precision
    bool streamed = false;         ///< kernels ask early for the matrix
    bool prefetch = false;         ///< of `x`, by software
    std::int32_t group_rows = 1;   ///< of masked blocks
    sparse::BlockShape shape = {}; ///< of dense blocks
    bool pieces_in_runs = false;   ///< pieces of long rows are stored by runs

    /// Rows whose entries in a tile are stored together.
    std::int32_t band = std::numeric_limits<std::int32_t>::max();

    /// Rows with more nonzeros are cut to pieces.
    std::int32_t longest_row = std::numeric_limits<std::int32_t>::max();

    int parts() const { return threads * shares; }
};

/// One format that a plan can choose.
template <class T>
struct PlanFormat
{
    /// Converts `a`, which must outlive what is made. Throws `std::length_error` if the format
    /// cannot hold it.
    using Make = std::unique_ptr<Parted<T>>(sparse::CsrView<T> const& a,
                                            FormatKernels<T> const& kernels,
                                            BuildOptions const& options);

    std::string_view name;    ///< as in records and reports
    std::string_view excerpt; ///< of the marked kernel
    Make* make;               ///< converts
    bool borrows = false;     ///< whether it works on the arrays that it was made from
    bool narrows = false;     ///< whether it can store doubles in single precision
};

/// All formats. `T` is float or double.
template <class T>
std::span<PlanFormat<T> const> plan_format_table();

/// Pieces of long rows, as rows, by runs or in CSR, built as the other rows are.
template <class T>
std::unique_ptr<Parted<T>> make_pieces(sparse::Csr<T> pieces, FormatKernels<T> const& kernels,
                                       BuildOptions const& options);

} // namespace spmv
