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

/// Where Scotch works: one thread and random numbers from a fixed seed. Left to
/// itself it takes every core and its parts depend on how the threads interleave.
class ScotchContext
{
public:
    ScotchContext()
    {
        check(SCOTCH_contextInit(&handle_), "SCOTCH_contextInit");
        check(SCOTCH_contextThreadSpawn(&handle_, 1, nullptr), "SCOTCH_contextThreadSpawn");
        check(SCOTCH_contextRandomClone(&handle_), "SCOTCH_contextRandomClone");
        SCOTCH_contextRandomSeed(&handle_, 1);
        SCOTCH_contextRandomReset(&handle_);
    }
    ~ScotchContext() { SCOTCH_contextExit(&handle_); }
    ScotchContext(ScotchContext const&) = delete;
    ScotchContext& operator=(ScotchContext const&) = delete;

    SCOTCH_Context* get() { return &handle_; }

private:
    SCOTCH_Context handle_{};
};

/// A graph as seen from a context; both must outlive it.
class BoundGraph
{
public:
    BoundGraph(ScotchContext& context, ScotchGraph& graph)
    {
        check(SCOTCH_graphInit(&handle_), "SCOTCH_graphInit");
        check(SCOTCH_contextBindGraph(context.get(), graph.get(), &handle_),
              "SCOTCH_contextBindGraph");
    }
    ~BoundGraph() { SCOTCH_graphExit(&handle_); }
    BoundGraph(BoundGraph const&) = delete;
    BoundGraph& operator=(BoundGraph const&) = delete;

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
    ScotchContext context;
    BoundGraph bound{context, view};
    ScotchStrategy strategy;
    std::vector<SCOTCH_Num> part(graph.work.size());
    check(SCOTCH_graphPart(bound.get(), parts, strategy.get(), part.data()), "SCOTCH_graphPart");
    return {part.begin(), part.end()};
}

template std::vector<std::int32_t> cut_graph(sparse::PatternView<std::int32_t> const&, int);
template std::vector<std::int32_t> cut_graph(sparse::PatternView<std::int64_t> const&, int);

} // namespace distributed
