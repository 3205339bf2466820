#pragma once

#include "sparse/catalogue/generators.hpp"
#include "sparse/csr.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

/// \file
/// What every format made from CSR has to pass. For tests only.

namespace sparse::testing {

/// Structures full of runs and blocks, and some without any.
inline std::vector<std::pair<std::string, Pattern<>>> const& structures()
{
    static std::vector<std::pair<std::string, Pattern<>>> const made{
        {"empty", empty(0, 0)},
        {"no nonzeros", empty(7, 9)},
        {"fem3", fem3(4)},
        {"fem3_shuffled", fem3_shuffled(6, 32, 1)},
        {"banded", banded(150, 71)},
        {"runs", runs(9001, 20, 3, 100, 5)},
        {"dense", dense(11, 131)},
        {"ragged", ragged(5003, 57, 40, 5)},
        {"short rows", short_rows(6007, 100, 2)},
    };
    return made;
}

/// The structure with values 1, 2, 3, ...
inline Csr<double> numbered(Pattern<> const& structure)
{
    Csr<double> a{structure.rows, structure.columns, structure.row_ptr, structure.col, {}};
    for (std::size_t p = 0; p < a.col.size(); ++p) {
        a.values.push_back(static_cast<double>(p + 1));
    }
    return a;
}

/// A matrix that is written down entry by entry, in any order.
struct Entries
{
    std::vector<std::map<std::int32_t, double>> row; ///< values by column

    /// No entries in as many rows as `a` has.
    explicit Entries(CsrView<double> const& a) : row(static_cast<std::size_t>(a.rows)) {}

    /// Whether these are the entries of `a`, whose rows are sorted.
    bool operator==(CsrView<double> const& a) const
    {
        for (std::int32_t i = 0; i < a.rows; ++i) {
            auto p = a.row_ptr[i];
            for (auto const& [column, value] : row[i]) {
                if (p == a.row_ptr[i + 1] || a.col[p] != column || a.values[p] != value) {
                    return false;
                }
                ++p;
            }
            if (p != a.row_ptr[i + 1]) {
                return false;
            }
        }
        return true;
    }
};

/// Calls `body(threads)` with OpenMP set to 1 to 8 threads, and sets it back.
template <class Body>
void with_threads(Body const& body)
{
#ifdef _OPENMP
    int const before = omp_get_max_threads();
    for (int const threads : {1, 2, 3, 8}) {
        omp_set_num_threads(threads);
        body(threads);
    }
    omp_set_num_threads(before);
#else
    body(1);
#endif
}

/// Checks the conversion of each structure: counts, round trip, and that the number of threads
/// changes nothing. `convert(a)` makes the format, `entries(format, into)` writes it down,
/// `arrays(format)` is a tuple of its arrays.
template <class Convert, class Write, class Arrays>
void check_conversion(Convert const& convert, Write const& write, Arrays const& arrays)
{
    for (auto const& [label, structure] : structures()) {
        std::string const name{label};
        CAPTURE(name);
        auto const a = numbered(structure);
        auto const first = convert(a.view());
        CHECK(first.rows == a.rows);
        CHECK(first.columns == a.columns);
        CHECK(first.nonzeros() == a.nonzeros());
        CHECK(first.work_before(0) == 0);
        CHECK(first.work_before(first.units()) >= static_cast<std::int64_t>(a.nonzeros()));
        std::size_t bytes = 0;
        std::apply([&](auto&... array) { ((bytes += array.size() * sizeof(array[0])), ...); },
                   arrays(first));
        CHECK(first.bytes() == bytes);
        Entries entries{a};
        write(first, entries);
        CHECK(entries == a.view());
        with_threads([&](int threads) {
            CAPTURE(threads);
            auto const other = convert(a.view());
            CHECK(arrays(other) == arrays(first));
        });
    }
}

/// Checks that positions of a format are counted from every 64th piece, not row: a long row would
/// have to be walked through before each multiply that begins behind it. `convert` makes a piece of
/// each nonzero that is far from the others.
template <class Convert>
void check_checkpoints(Convert const& convert)
{
    constexpr std::int32_t pieces = 128;
    Pattern<> structure{2, 16 * pieces, {0, pieces, pieces + 1}, {}};
    for (std::int32_t k = 0; k < pieces; ++k) {
        structure.col.push_back(16 * k);
    }
    structure.col.push_back(0);
    auto const a = convert(numbered(structure));
    CHECK(std::ranges::equal(a.checkpoint, std::vector{0, 64, 128}));
    CHECK(a.view().position(0) == 0);
    CHECK(a.view().position(1) == pieces);
    CHECK(a.view().position(2) == pieces + 1);
    structure = {1, structure.columns, {0, pieces}, structure.col};
    structure.col.pop_back();
    CHECK(convert(numbered(structure)).view().position(1) == pieces); // no piece behind
}

} // namespace sparse::testing
