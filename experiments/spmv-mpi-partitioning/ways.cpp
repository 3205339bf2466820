#include "variants.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace partitioning {

namespace {

using sparse::PatternView;

/// The last graphs that were cut: several variants and both checks of a point ask for the same.
distributed::Partition remembered_graph_cut(PatternView<> const& a, int ranks)
{
    using Key = std::tuple<std::int32_t, std::size_t, std::int32_t, int>;
    static std::map<Key, distributed::Partition> cuts;
    static std::vector<std::int32_t> columns;
    if (!std::ranges::equal(columns, a.col)) {
        cuts.clear();
        columns.assign(a.col.begin(), a.col.end());
    }
    Key const key{a.rows, a.nonzeros(), a.columns, ranks};
    auto const found = cuts.find(key);
    return found != cuts.end() ? found->second
                               : cuts.emplace(key, distributed::by_graph(a, ranks)).first->second;
}

} // namespace

std::vector<Way> const& contiguous_ways()
{
    static std::vector<Way> const ways{
        {"equal",
         [](PatternView<> const& a, int ranks) { return distributed::equal_rows(a.rows, ranks); }},
        {"floor", [](PatternView<> const& a,
                     int ranks) { return distributed::rounded_down(a.row_ptr, ranks); }},
        {"ceil", [](PatternView<> const& a,
                    int ranks) { return distributed::rounded_up(a.row_ptr, ranks); }},
        {"alternate", [](PatternView<> const& a,
                         int ranks) { return distributed::alternating(a.row_ptr, ranks); }},
        {"bottleneck", [](PatternView<> const& a,
                          int ranks) { return distributed::least_bottleneck(a.row_ptr, ranks); }},
    };
    return ways;
}

Way const& contiguous_way(std::string_view name)
{
    return *std::ranges::find(contiguous_ways(), name, &Way::name);
}

Way const& graph_way()
{
    static Way const way{"graph", remembered_graph_cut};
    return way;
}

} // namespace partitioning
