#pragma once

#include "base/not_applicable.hpp"
#include "sparse/csr.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace peers {

/// A matrix as a foreign library holds it, ready to be multiplied.
template <class T>
class SpmvOperator
{
public:
    /// Multiplies with `x` of `columns` and writes `y` of `rows` elements.
    using Multiply = std::function<void(std::span<T const> x, std::span<T> y)>;

    /// `stored_bytes` is what the library stores beside the matrix it was made from.
    SpmvOperator(std::size_t stored_bytes, Multiply multiply)
        : bytes_{stored_bytes}, multiply_{std::move(multiply)}
    {
    }

    /// Bytes that the library stores beside the matrix it was made from; 0 if it works on that one.
    std::size_t bytes() const { return bytes_; }

    /// Computes `y = A x` for `x` of `columns` and `y` of `rows` elements.
    void operator()(std::span<T const> x, std::span<T> y) const { multiply_(x, y); }

private:
    std::size_t bytes_;
    Multiply multiply_;
};

using base::NotApplicable;

/// A foreign library that multiplies sparse matrices, found when this was built or not.
template <class T>
struct SpmvPeer
{
    /// Converts a matrix, which must outlive the operator. Throws `NotApplicable` if the library is
    /// not made for it: some want at least one nonzero, block formats want blocks.
    using Make = std::function<SpmvOperator<T>(sparse::CsrView<T> const& a)>;

    std::string name;    ///< "eigen", "mkl_bsr": also the name of the marked source text
    std::string version; ///< of the library in use; empty if it is not available
    std::string missing; ///< why it is not available and how to install it; empty if it is
    Make make;           ///< empty if the library is not available

    /// Whether it may be used.
    bool available() const { return missing.empty(); }
};

/// Whether libraries that offer several ways try them out and keep the fastest. The search takes
/// some hundred multiplies.
enum class Tuning
{
    off,
    on,
};

/// How foreign libraries work.
struct PeerOptions
{
    int threads = 1; ///< of one multiply; also the number that the search is made for
    Tuning tuning = Tuning::on;
};

/// All libraries that memwall can compare with. `T` is float or double.
///
/// Libraries have a state of their own in a process: multiplies at the same time must use the same
/// number of threads, and a process that first asks for one must not ask for more later (MKL).
template <class T>
std::vector<SpmvPeer<T>> spmv_peers(PeerOptions options = {});

} // namespace peers
