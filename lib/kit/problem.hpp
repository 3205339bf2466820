#pragma once

#include "sparse/csr.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

/// \file
/// What a course kit asks for: sparse matrices and vectors that are others each time, and the
/// check of `y = A x`. The standard library alone: every kit carries this folder with it.

namespace kit {

/// One product: a matrix with values and the vectors to multiply, element by element side by side.
struct Instance
{
    sparse::Csr<double> a;
    int vectors = 1;
    std::vector<double> x; ///< columns * vectors elements, those of a column beside each other

    /// Bytes that a product reads and writes at least: the matrix and x once, y once.
    double bytes() const;
};

/// A family of problems: a generator of sparse/catalogue/generators.hpp, a range for each argument.
class Family
{
public:
    /// From a line `NAME GENERATOR argument=from..to argument=value ...`. Throws
    /// std::invalid_argument, which names the line, where it cannot be understood.
    explicit Family(std::string const& line);

    std::string const& name() const { return name_; }

    /// The problem that belongs to a seed: sizes, structure, values and vectors all follow from it.
    Instance make(std::uint64_t seed, int vectors) const;

private:
    std::string name_;
    std::string generator_;
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> ranges_;
};

/// What a result must be: for each element of y a value and how far from it rounding may lead.
struct Expected
{
    std::vector<double> value;
    std::vector<double> bound;
};

/// The product in extended precision. The bound is that of a sum of n products in any order, with
/// or without fused operations: (n + 1) u sum |a| |x| (Higham 2002, section 3.1), and as much
/// again.
Expected expected(Instance const& problem);

/// What is wrong with the elements of y from `first` on, of which `y` holds `count`: empty if
/// nothing is, else one line about the first that is wrong.
std::string complaint(Expected const& expected, std::size_t first, std::size_t count,
                      double const* y);

/// A small problem with its result beside what was expected, as text for people.
std::string shown(Instance const& problem, Expected const& expected, std::size_t first,
                  std::vector<double> const& y);

} // namespace kit
