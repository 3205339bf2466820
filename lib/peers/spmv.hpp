#pragma once

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

/// A foreign library that multiplies sparse matrices, found when this was built or not.
template <class T>
struct SpmvPeer
{
    /// Converts a matrix, which must outlive the operator. Throws `std::runtime_error` if the
    /// library refuses it: some want at least one nonzero.
    using Make = std::function<SpmvOperator<T>(sparse::CsrView<T> const& a)>;

    std::string name;    ///< "eigen", "librsb", "mkl": also the name of the marked source text
    std::string version; ///< of the library in use; empty if it is not available
    std::string missing; ///< why it is not available and how to install it; empty if it is
    Make make;           ///< empty if the library is not available

    /// Whether it may be used.
    bool available() const { return missing.empty(); }
};

/// Whether libraries that can search for their fastest format do so. The search takes some hundred
/// multiplies.
enum class Tuning
{
    off,
    on,
};

/// All libraries that memwall can compare with, set to one thread. `T` is float or double.
template <class T>
std::vector<SpmvPeer<T>> spmv_peers(Tuning tuning = Tuning::on);

} // namespace peers
