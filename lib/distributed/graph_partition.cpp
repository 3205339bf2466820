#include "distributed/graph.hpp"
#include "distributed/partition.hpp"

#include <stdexcept>

namespace distributed {

template <class I>
Partition by_graph(sparse::PatternView<I> const& a, int ranks)
{
    if (a.rows != a.columns) {
        throw std::invalid_argument{"a graph partition needs a square matrix"};
    }
    if (ranks == 1 || a.rows <= ranks) { // libraries ask for more rows than parts
        return equal_rows(a.rows, ranks);
    }
    return Partition{cut_graph(a, ranks), ranks};
}

template Partition by_graph(sparse::PatternView<std::int32_t> const&, int);
template Partition by_graph(sparse::PatternView<std::int64_t> const&, int);

} // namespace distributed
