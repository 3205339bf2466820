#pragma once

#include "kit/image.hpp"

#include "kit/random.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// \file
/// What a course kit asks for: inputs that are others each time, and the check of what comes of
/// them. A problem stands in a file of its own (problem_spmv.hpp and its like). The standard
/// library alone: every kit carries this folder with it.

namespace kit {

/// Elements that a rank has written, the first of which is element `first` of the whole result.
struct Result
{
    std::size_t first;
    std::span<std::byte const> bytes;
};

/// One input, and what must come of it.
class Instance
{
public:
    virtual ~Instance() = default;

    /// How much work it is: times of inputs of other sizes are compared by time per work.
    virtual double work() const = 0;

    /// What each rank is given: arrays lie at other places for each seed, and the output is
    /// poisoned with numbers that are none.
    virtual std::vector<Image> images(int ranks, std::uint64_t seed) const = 0;

    /// Gets ready to check: every element where it is to be `whole`, else what is quicker and finds
    /// an error with near certainty. Before it nothing can be checked.
    virtual void expect(bool whole) = 0;

    /// What is wrong with a result: empty if nothing is, else one line about the first that is
    /// wrong.
    virtual std::string complaint(Result const& result) = 0;

    /// Whether it is so small that people can look at it.
    virtual bool is_small() const = 0;

    /// The whole calculation with a result beside what was expected, as text for people.
    virtual std::string shown(Result const& result) const = 0;
};

/// The numbers of a line, by their names; throws std::invalid_argument where one is missing.
using Arguments = std::function<std::int64_t(std::string const&)>;

/// Makes the inputs of one kind.
using Generator = std::function<std::unique_ptr<Instance>(Arguments const&, Random&)>;

/// A problem: the kinds of inputs that it has, by their names.
using Generators = std::map<std::string, Generator>;

/// The problem of a line `NAME setting=value ...`: `spmv vectors=4`, `dense bits=64`, `softmax`.
/// Throws std::invalid_argument, which names the line, where it cannot be understood.
Generators problem(std::string const& line);

/// A family of inputs: a generator of a problem, and a range for each of its arguments.
class Family
{
public:
    /// From a line `NAME GENERATOR argument=from..to argument=value ...`. Throws
    /// std::invalid_argument, which names the line, where it cannot be understood.
    Family(Generators const& problem, std::string const& line);

    std::string const& name() const { return name_; }

    /// The input that belongs to a seed: sizes, structure and values all follow from it.
    std::unique_ptr<Instance> make(std::uint64_t seed) const;

private:
    std::string name_;
    std::string kind_;
    Generator generator_;
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> ranges_;
};

/// A real of magnitude 1/16 to 1 with a random sign: none is so small that leaving it out would
/// pass.
double real(std::uint64_t bits);

/// So many elements that are no numbers, each with other bits. `T` is float or double.
template <class T>
std::vector<T> poison(std::size_t count, Random& random);

/// Line about an element that is not what was expected, which `name` names.
std::string wrong_element(std::string const& name, double found, double expected, double bound);

} // namespace kit
