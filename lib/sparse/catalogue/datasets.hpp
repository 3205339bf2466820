#pragma once

#include "sparse/catalogue/catalogue.hpp"
#include "sparse/csr.hpp"

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sparse {

/// What a result records of a matrix.
struct Description
{
    std::string sha256; ///< `structure_digest`
    /// rows, columns, nonzeros, mean_row, max_row, std_row, empty_rows, nzseg_per_nnz
    std::vector<std::pair<std::string, double>> features;
};

/// Gives experiments their matrices by catalogue name or by the path of a Matrix Market file.
///
/// A name with a `/`, or that ends in `.mtx` or `.mtx.gz`, is a path. The last structure is kept,
/// so that loading it again with other values or for another type costs only the values.
class Datasets
{
public:
    /// The embedded catalogue; fetched matrices are looked for in the folder that the environment
    /// variable MEMWALL_CACHE names, else in datasets/cache below the current directory.
    Datasets();

    /// A catalogue and the folder of fetched matrices.
    Datasets(Catalogue catalogue, std::filesystem::path cache);

    /// The set `name`, which knows `require`; throws std::invalid_argument if there is none. These
    /// must outlive it.
    MatrixSet set(std::string_view name) const;

    /// The set `name`, its full profile such that `cache_bytes` of last-level cache do not hold a
    /// matrix: beyond 100 MB its xl list, if it has one. Throws as `set`.
    MatrixSet set_beyond_cache(std::string_view name, std::size_t cache_bytes) const;

    /// Throws an exception with one line if there is no matrix `name`: no such file, an unknown
    /// name (the nearest ones are given), or one that is not in the cache (how to fetch it). Reads
    /// none.
    void require(std::string const& name) const;

    /// Whether `name` is a smaller copy of a matrix of the catalogue, which no cache would hold.
    bool stands_for_larger(std::string_view name) const;

    /// The structure of `name`, valid until another one is asked for.
    ///
    /// Throws an exception with one line if the name is unknown (the nearest names are given), the
    /// matrix is not in the cache (how to fetch it), its size is not the published one, or the file
    /// cannot be read.
    Pattern<> const& structure(std::string const& name);

    /// The matrix `name` with the values that `fill(std::span<T>)` writes. Throws as `structure`.
    template <class T, class Fill>
    Csr<T> load(std::string const& name, Fill const& fill)
    {
        auto const& pattern = structure(name);
        Csr<T> a{pattern.rows, pattern.columns, pattern.row_ptr, pattern.col, {}};
        a.values.resize(a.nonzeros());
        fill(std::span<T>{a.values});
        return a;
    }

    /// Digest and features of `name`, computed once. Throws as `structure`, and if a generated
    /// structure is not the one pinned in datasets/structures.lock.
    Description const& description(std::string const& name);

private:
    Pattern<> read(std::string const& name) const;
    std::filesystem::path file_of(std::string const& name, Collected const& collected) const;
    Pattern<> read_collected(std::string const& name, Collected const& collected) const;

    Catalogue catalogue_;
    std::filesystem::path cache_;
    std::string kept_name_;
    Pattern<> kept_;
    std::map<std::string, Description> descriptions_;
};

} // namespace sparse
