#include "distributed/graph.hpp"
#include "distributed/partition.hpp"

#include <fmt/format.h>

#include <cstdio> // scotch.h needs it and does not say so
#include <scotch.h>

namespace distributed {

namespace {

void check(int code, char const* call)
{
    if (code != 0) {
        throw std::runtime_error{fmt::format("{} failed with code {}", call, code)};
    }
}

/// Scotch's view of a graph, which must outlive it.
class ScotchGraph
{
public:
    explicit ScotchGraph(Graph<SCOTCH_Num>& graph)
    {
        check(SCOTCH_graphInit(&handle_), "SCOTCH_graphInit");
        auto const* const offsets = graph.offsets.data();
        check(SCOTCH_graphBuild(&handle_, 0, graph.vertices(), offsets, offsets + 1,
                                graph.work.data(), nullptr,
                                static_cast<SCOTCH_Num>(graph.neighbours.size()),
                                graph.neighbours.data(), nullptr),
              "SCOTCH_graphBuild");
    }
    ~ScotchGraph() { SCOTCH_graphExit(&handle_); }
    ScotchGraph(ScotchGraph const&) = delete;
    ScotchGraph& operator=(ScotchGraph const&) = delete;

    SCOTCH_Graph* get() { return &handle_; }

private:
    SCOTCH_Graph handle_{};
};

/// The default strategy.
class ScotchStrategy
{
public:
    ScotchStrategy() { check(SCOTCH_stratInit(&handle_), "SCOTCH_stratInit"); }
    ~ScotchStrategy() { SCOTCH_stratExit(&handle_); }
    ScotchStrategy(ScotchStrategy const&) = delete;
    ScotchStrategy& operator=(ScotchStrategy const&) = delete;

    SCOTCH_Strat* get() { return &handle_; }

private:
    SCOTCH_Strat handle_{};
};

} // namespace

std::string_view graph_partitioner()
{
    static auto const name = [] {
        int version = 0;
        int release = 0;
        int patch = 0;
        SCOTCH_version(&version, &release, &patch);
        return fmt::format("Scotch {}.{}.{}", version, release, patch);
    }();
    return name;
}

template <class I>
std::vector<std::int32_t> cut_graph(sparse::PatternView<I> const& a, int parts)
{
    auto graph = graph_of<SCOTCH_Num>(a);
    ScotchGraph view{graph};
    ScotchStrategy strategy;
    SCOTCH_randomReset(); // the same parts whatever was cut before
    std::vector<SCOTCH_Num> part(graph.work.size());
    check(SCOTCH_graphPart(view.get(), parts, strategy.get(), part.data()), "SCOTCH_graphPart");
    return {part.begin(), part.end()};
}

template std::vector<std::int32_t> cut_graph(sparse::PatternView<std::int32_t> const&, int);
template std::vector<std::int32_t> cut_graph(sparse::PatternView<std::int64_t> const&, int);

} // namespace distributed
