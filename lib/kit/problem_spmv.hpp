#pragma once

#include "kit/problem.hpp"

#include "sparse/csr.hpp"

/// \file
/// The problem of sparse kits: `Y = A X`, the rows of A dealt evenly to ranks.

namespace kit {

/// One product: a matrix with values and the vectors to multiply, element by element side by side.
class SparseProduct : public Instance
{
public:
    sparse::Csr<double> a;
    std::size_t vectors = 1;
    std::vector<double> x; ///< columns * vectors elements, those of a column beside each other

    /// What each element of y must be, and how far from it rounding may lead: the bound is that of
    /// a sum of n products in any order, with or without fused operations, (n + 1) u sum |a| |x|
    /// (Higham 2002, section 3.1), and as much again.
    std::vector<double> value;
    std::vector<double> bound;

    /// Bytes that a product reads and writes at least: the matrix and x once, y once.
    double work() const override;

    /// Numbers: rows of this rank, columns. Arrays: row_ptr, col, values, x, y and, for several
    /// ranks, the first row of each rank and the number of rows.
    std::vector<Image> images(int ranks, std::uint64_t seed) const override;

    /// The product in extended precision, whole in any case.
    void expect(bool whole) override;

    std::string complaint(Result const& result) override;
    bool is_small() const override { return a.nonzeros() <= 64; }
    std::string shown(Result const& result) const override;
};

/// Generators of sparse/catalogue/generators.hpp; of their nonzeros one in 256 is left out. The
/// setting `vectors`: how many are multiplied at once.
Generators spmv(Arguments const& settings);

} // namespace kit
