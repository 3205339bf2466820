#pragma once

#include "spmv/formats/csr/kernel.hpp"
#include "spmv/formats/host.hpp"
#include "spmv/formats/work.hpp"

#include <tuple>
#include <type_traits>
#include <utility>

namespace spmv {

/// Compressed sparse rows as the other formats are: the caller's arrays, or a copy of its own.
template <class T>
class CsrRows
{
public:
    /// Works on the arrays of `a`.
    explicit CsrRows(sparse::CsrView<T> const& a) : borrowed_{a} {}

    /// Owns `a`.
    explicit CsrRows(sparse::Csr<T> a) : owned_{std::move(a)}, owns_{true} {}

    /// Rows.
    std::int32_t units() const { return view().rows; }

    /// Nonzeros of all rows before `row`, and the work of the rows.
    std::size_t work_before(std::int32_t row) const
    {
        return static_cast<std::size_t>(view().row_ptr[static_cast<std::size_t>(row)]) +
               static_cast<std::size_t>(sparse::row_work * row);
    }

    /// Bytes of the three arrays, whoever owns them.
    std::size_t bytes() const
    {
        auto const a = view();
        return (a.row_ptr.size() + a.col.size()) * sizeof(std::int32_t) +
               a.values.size() * sizeof(T);
    }

    sparse::CsrView<T> view() const { return owns_ ? owned_.view() : borrowed_; }

private:
    sparse::CsrView<T> borrowed_;
    sparse::Csr<T> owned_;
    bool owns_ = false;
};

/// Whether kernels of rows gain from prefetching: for very short rows, and in single precision for
/// long ones, it takes more time than they would wait.
template <class T>
bool rows_gain_by_prefetch(sparse::CsrView<T> const& a)
{
    double const mean = static_cast<double>(a.nonzeros()) / std::max(1, a.rows);
    return mean >= 4 && (std::is_same_v<T, double> || mean <= 16);
}

namespace formats::csr {

/// Compressed sparse rows; units are rows.
struct Csr : FormatDefaults
{
    static constexpr FormatName name{"csr", "csr"};
    static constexpr bool borrows = true;

    template <Ahead ahead, class T>
    static constexpr auto* kernel = spmv::csr<of_matrix(ahead), T>;

    template <class T>
    static CsrRows<T> build(sparse::CsrView<T> const& a, BuildOptions const&)
    {
        return CsrRows<T>{a};
    }

    template <class T>
    static double bytes(sparse::CsrView<T> const& a, BuildOptions& options)
    {
        options.prefetch = options.prefetch && rows_gain_by_prefetch(a);
        return static_cast<double>(CsrRows<T>{a}.bytes());
    }
};

using All = std::tuple<Csr>;

} // namespace formats::csr
} // namespace spmv
