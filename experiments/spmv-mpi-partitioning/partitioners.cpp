#include "partitioners.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

namespace partitioning {

std::vector<Partitioner> const contiguous_partitioners =
    distributed::contiguous_partitioners<std::int32_t>();

Partitioner const& contiguous_partitioner(std::string_view name)
{
    return *std::ranges::find(contiguous_partitioners, name, &Partitioner::name);
}

Partitioner const by_graph{
    "graph", [](sparse::PatternView<> const& a, int ranks) {
        using Key = std::tuple<std::int32_t, std::size_t, std::int32_t, int>;
        static std::map<Key, distributed::Partition> cuts;
        static std::vector<std::int32_t> columns;
        if (!std::ranges::equal(columns, a.col)) {
            cuts.clear();
            columns.assign(a.col.begin(), a.col.end());
        }
        Key const key{a.rows, a.nonzeros(), a.columns, ranks};
        auto const found = cuts.find(key);
        return found != cuts.end()
                   ? found->second
                   : cuts.emplace(key, distributed::by_graph(a, ranks)).first->second;
    }};

distributed::Choice planned(bench::Trial const& trial)
{
    return [cold = trial.is_cold()](sparse::PatternView<> const&) {
        return spmv::PlanOptions{.cold = cold};
    };
}

} // namespace partitioning
