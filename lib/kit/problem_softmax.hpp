#pragma once

#include "kit/problem.hpp"

/// \file
/// The problem of kits for softmax, which begins with a reduction: sums of rows, then the softmax
/// of rows, of a matrix of floats that lies row by row, on one rank.

namespace kit {

/// What is made of each row.
enum class RowTask
{
    sum,    ///< one number: the sum of its elements
    softmax ///< as many numbers: exp(x_j - max x) / sum of exp(x_i - max x)
};

/// The rows of a matrix. Where much must be added up in float, the bound follows the number of
/// elements as errors of sums do, by its root: u (4 + 8 sqrt(columns)) times the sum of magnitudes
/// for a sum. For softmax it is u (64 + 4 |x_j - max x| + 8 sqrt(columns)) times the result: the
/// exponential of a difference has its error, and that of the difference. Results below 1e-30 may
/// be 0.
class RowProblem : public Instance
{
public:
    /// Elements of [offset - 8, offset + 8).
    RowProblem(RowTask task, std::int32_t rows, std::int32_t columns, std::int64_t offset,
               Random& random);

    std::vector<float> const& x() const { return x_; }

    /// Bytes that are read and written at least.
    double work() const override;

    /// Numbers: rows, columns. Arrays: x, y.
    std::vector<Image> images(int ranks, std::uint64_t seed) const override;

    /// Every element in any case; exponentials in double where it is to be whole, else in float,
    /// which is several times as fast and errs by less than a quarter of the bound.
    void expect(bool whole) override;

    std::string complaint(Result const& result) override;
    bool is_small() const override { return x_.size() <= 32; }
    std::string shown(Result const& result) const override;

private:
    /// What is known of a row: its largest element, and the sums of what is added up in it, the
    /// elements or their exponentials, and of the magnitudes of these.
    struct Facts
    {
        float most;
        double sum;
        double magnitude;
    };

    struct Expected
    {
        double value;
        double bound;
    };

    std::size_t width() const; ///< elements that are written of a row
    std::size_t outputs() const;

    /// Of what is written element `i`, which belongs to a row.
    Expected expected(std::size_t row, std::size_t i) const;

    RowTask task_;
    std::int32_t rows_;
    std::int32_t columns_;
    double of_sums_; ///< units that sums of a row may err by
    std::vector<float> x_;
    std::vector<Facts> facts_;
    std::vector<float> power_; ///< exp(x - most), of softmax
};

/// Generators `row_sums` and `softmax`, each of which is the function that is called, with the
/// arguments rows, columns and offset.
Generators softmax(Arguments const& settings);

} // namespace kit
