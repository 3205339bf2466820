#pragma once

#include "sparse/csr.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

/// \file
/// What `by_graph` gives to a library, whichever it is.

namespace distributed {

/// A graph without direction: a vertex for each row, an edge where either row has a nonzero in the
/// other's column. `Index` is the integer type of the library.
template <class Index>
struct Graph
{
    std::vector<Index> offsets;    ///< vertices + 1
    std::vector<Index> neighbours; ///< each edge stands at both of its ends, once
    std::vector<Index> work;       ///< of each vertex: its nonzeros, and one for the row

    Index vertices() const { return static_cast<Index>(work.size()); }
};

/// The part, 0 to `parts` - 1, of each row of a square matrix, as the library that `by_graph` calls
/// has it; `parts` >= 2. Throws as `by_graph`.
template <class I>
std::vector<std::int32_t> cut_graph(sparse::PatternView<I> const& a, int parts);

namespace detail {

/// Where the entries of each column begin, if they stood column by column.
template <class Index, class I>
std::vector<Index> column_offsets(sparse::PatternView<I> const& a)
{
    std::vector<Index> offsets(static_cast<std::size_t>(a.columns) + 1, 0);
    for (auto const col : a.col) {
        ++offsets[static_cast<std::size_t>(col) + 1];
    }
    std::inclusive_scan(offsets.begin(), offsets.end(), offsets.begin());
    return offsets;
}

/// The rows of each column, in ascending order.
template <class Index, class I>
std::vector<Index> rows_by_column(sparse::PatternView<I> const& a, std::vector<Index> next)
{
    std::vector<Index> rows(a.nonzeros());
    for (I i = 0; i < a.rows; ++i) {
        for (I p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            rows[static_cast<std::size_t>(next[static_cast<std::size_t>(a.col[p])]++)] =
                static_cast<Index>(i);
        }
    }
    return rows;
}

} // namespace detail

/// The graph of a square matrix. Throws `std::length_error` if `Index` cannot count its rows and
/// twice its nonzeros.
template <class Index, class I>
Graph<Index> graph_of(sparse::PatternView<I> const& a)
{
    auto const most = static_cast<std::size_t>(std::numeric_limits<Index>::max());
    if (2 * a.nonzeros() + static_cast<std::size_t>(a.rows) > most) {
        throw std::length_error{"a graph of " + std::to_string(a.nonzeros()) +
                                " nonzeros is too large for a partitioner with indices of " +
                                std::to_string(8 * sizeof(Index)) + " bits"};
    }
    auto const offsets = detail::column_offsets<Index>(a);
    auto const rows = detail::rows_by_column(a, offsets);
    Graph<Index> graph;
    graph.offsets = {0};
    for (I i = 0; i < a.rows; ++i) {
        std::span const row{a.col.data() + a.row_ptr[i], a.col.data() + a.row_ptr[i + 1]};
        std::span const column{rows.data() + offsets[i], rows.data() + offsets[i + 1]};
        std::ranges::set_union(row, column, std::back_inserter(graph.neighbours));
        auto const before = static_cast<std::ptrdiff_t>(graph.offsets.back());
        auto const loop = std::find(graph.neighbours.begin() + before, graph.neighbours.end(),
                                    static_cast<Index>(i));
        if (loop != graph.neighbours.end()) {
            graph.neighbours.erase(loop);
        }
        graph.offsets.push_back(static_cast<Index>(graph.neighbours.size()));
        graph.work.push_back(static_cast<Index>(row.size()) + 1);
    }
    return graph;
}

} // namespace distributed
