#include "variants.hpp"

#include "ceilings/probes.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

namespace partitioning {

namespace {

using sparse::PatternView;

constexpr int studied[] = {2, 8, 32, 128, 1024, 10'000};

/// To cut a graph takes up to minutes.
constexpr int studied_graphs[] = {8, 128, 10'000};

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

/// A way that looks at nothing but the lengths of rows.
Way by_offsets(std::string name,
               distributed::Partition (*cut)(std::span<std::int32_t const> row_ptr, int ranks))
{
    return {std::move(name),
            [cut](PatternView<> const& a, int ranks) { return cut(a.row_ptr, ranks); }, studied};
}

} // namespace

bench::AxisValues message_bytes()
{
    using Bytes = std::int64_t;
    bench::AxisValues values{Bytes{8},      Bytes{512},     Bytes{4096},
                             Bytes{32'768}, Bytes{262'144}, Bytes{1'048'576}};
    values.require = [](bench::Parameter const& value) {
        if (auto const bytes = std::get<Bytes>(value); bytes <= 0 || bytes % 8 != 0) {
            throw std::invalid_argument{"--bytes: found " + std::to_string(bytes) +
                                        ", expected a multiple of 8"};
        }
    };
    return values;
}

bench::Ceiling read_on_all_ranks(int ranks, int threads)
{
    auto ceiling = ceilings::read_beyond(
        bench::host().cache_bytes() / static_cast<std::size_t>(ranks), threads);
    ceiling.work.bytes *= ranks;
    return ceiling;
}

std::vector<Way> const& contiguous_ways()
{
    static std::vector<Way> const ways{
        {"equal",
         [](PatternView<> const& a, int ranks) { return distributed::equal_rows(a.rows, ranks); },
         studied},
        by_offsets("floor", distributed::rounded_down<std::int32_t>),
        by_offsets("ceil", distributed::rounded_up<std::int32_t>),
        by_offsets("alternate", distributed::alternating<std::int32_t>),
        by_offsets("bottleneck", distributed::least_bottleneck<std::int32_t>),
    };
    return ways;
}

Way const& contiguous_way(std::string_view name)
{
    return *std::ranges::find(contiguous_ways(), name, &Way::name);
}

Way const& graph_way()
{
    static Way const way{"graph", remembered_graph_cut, studied_graphs};
    return way;
}

} // namespace partitioning
