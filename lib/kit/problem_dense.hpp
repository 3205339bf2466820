#pragma once

#include "kit/problem.hpp"

/// \file
/// The problem of kits for matrix multiply: `C = A B`, row by row, on one rank.

namespace kit {

/// One product. `T` is double, or float, of which the check is done in double.
///
/// The bound is slack * u * |a_i| |b_j|, with the Euclidean norms of row i of A and column j of B.
/// For double the slack is 2 (k + 1) for sums of k products, as for sums in any order (Higham 2002,
/// section 3.1). For float that of the worst case would let pass what is computed with eleven
/// bits: the slack is 64. Rounding errors of sums with random signs are below 1, also of products
/// of split numbers on tensor cores some 20 at most, and numbers of eleven bits make them hundreds.
template <class T>
class DenseProduct : public Instance
{
public:
    /// With values of magnitude 1/16 to 1 and random signs.
    DenseProduct(std::int32_t m, std::int32_t n, std::int32_t k, Random& random);

    std::int32_t m() const { return m_; }
    std::int32_t n() const { return n_; }
    std::int32_t k() const { return k_; }
    std::vector<T> const& a() const { return a_; }
    std::vector<T> const& b() const { return b_; }

    /// Operations of the textbook: 2 m n k.
    double work() const override;

    /// Numbers: m, n, k. Arrays: A, B, C.
    std::vector<Image> images(int ranks, std::uint64_t seed) const override;

    /// Whole: computes the product. Else each complaint multiplies C, and A with B, by random
    /// vectors of its own (Freivalds 1977), which takes m n operations in place of m n k.
    void expect(bool whole) override;

    std::string complaint(Result const& result) override;
    bool is_small() const override { return std::int64_t{m_} * n_ * k_ <= 64; }
    std::string shown(Result const& result) const override;

private:
    double slack() const;
    double product_of(std::size_t row, std::size_t column) const;
    double bound_of(std::size_t row, std::size_t column) const;
    std::string complaint_of_row(std::size_t row, T const* c) const;
    bool passes(std::vector<T> const& c, std::size_t& row);

    std::int32_t m_;
    std::int32_t n_;
    std::int32_t k_;
    std::vector<T> a_;
    std::vector<T> b_;
    std::vector<double> rows_;    ///< norms of the rows of A
    std::vector<double> columns_; ///< norms of the columns of B
    std::vector<double> whole_;   ///< the product, or empty
    Random random_;
};

extern template class DenseProduct<double>;
extern template class DenseProduct<float>;

/// One generator, `product`, with the arguments m, n and k. The setting `bits`: 64 or 32.
Generators dense(Arguments const& settings);

} // namespace kit
