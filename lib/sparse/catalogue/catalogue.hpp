#pragma once

#include "sparse/catalogue/generators.hpp"
#include "sparse/csr.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sparse {

/// A matrix made by a function of generators.hpp.
struct Generated
{
    std::string generator;        ///< name of the function
    std::vector<Count> arguments; ///< in the order of the function's parameters
};

/// A matrix of the SuiteSparse Matrix Collection with its published size.
struct Collected
{
    std::string group;  ///< folder of the collection
    std::string name;   ///< name within the group
    Count rows = 0;     ///< published
    Count columns = 0;  ///< published
    Count nonzeros = 0; ///< with explicit zeros and both halves of symmetric matrices
};

/// One named matrix.
struct CatalogueEntry
{
    std::string about;                         ///< what it stands for, one line
    std::variant<Generated, Collected> source; ///< where it comes from
    std::string stands_for = {};               ///< the larger matrix that it stands for, or empty
};

/// The matrices an experiment runs on, by profile.
struct MatrixSet
{
    std::vector<std::string> tiny;      ///< for tests
    std::vector<std::string> quick;     ///< fits a two-core laptop
    std::vector<std::string> full;      ///< leaves every cache behind
    std::vector<std::string> book = {}; ///< for the machine of lessons; empty if `quick` does
    std::vector<std::string> xl = {};   ///< leaves caches over 100 MB behind; empty if `full` does

    /// Throws an exception with one line for a name of no matrix; see `Datasets::require`.
    std::function<void(std::string const&)> require = {};
};

/// What datasets/catalogue.toml and datasets/structures.lock say.
class Catalogue
{
public:
    /// Parses the two texts. Throws std::runtime_error with one line that names the file as given
    /// here, the line, the entry, what was found and what was expected.
    Catalogue(std::string_view text, std::string_view file, std::string_view lock,
              std::string_view lock_file);

    /// The catalogue that was embedded when the program was built.
    static Catalogue const& embedded();

    /// Whether `name` is a matrix of the catalogue.
    bool contains(std::string_view name) const { return matrices_.contains(name); }

    /// The matrix `name`; if there is none, throws std::invalid_argument with the nearest names.
    CatalogueEntry const& matrix(std::string_view name) const;

    /// The set `name`; if there is none, throws std::invalid_argument with the nearest names.
    MatrixSet const& set(std::string_view name) const;

    /// All matrices by name.
    std::map<std::string, CatalogueEntry, std::less<>> const& matrices() const { return matrices_; }

    /// The pinned `structure_digest` of a matrix, or an empty string.
    std::string_view pinned_digest(std::string_view name) const;

private:
    std::map<std::string, CatalogueEntry, std::less<>> matrices_;
    std::map<std::string, MatrixSet, std::less<>> sets_;
    std::map<std::string, std::string, std::less<>> digests_;
};

/// Calls the generator. Throws what the generator throws.
Pattern<> generate(Generated const& generated);

} // namespace sparse
