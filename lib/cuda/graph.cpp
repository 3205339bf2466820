#include "cuda/graph.hpp"

#include "cuda/error.hpp"

namespace cuda {

namespace {

struct DestroyGraph
{
    void operator()(cudaGraph_t graph) const { static_cast<void>(cudaGraphDestroy(graph)); }
};
using Captured = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyGraph>;

Captured end_capture(Stream const& stream)
{
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream.get(), &graph));
    return Captured{graph};
}

Captured capture(Stream const& stream, std::function<void()> const& issue, std::size_t count)
{
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
    try {
        for (std::size_t i = 0; i < count; ++i) {
            issue();
        }
    } catch (...) {
        cudaGraph_t unfinished = nullptr; // the stream must be usable again
        static_cast<void>(cudaStreamEndCapture(stream.get(), &unfinished));
        static_cast<void>(cudaGraphDestroy(unfinished));
        throw;
    }
    return end_capture(stream);
}

} // namespace

Graph::Graph(Stream const& stream, std::function<void()> const& issue, std::size_t count)
{
    auto const captured = capture(stream, issue, count);
    cudaGraphExec_t graph = nullptr;
    check(cudaGraphInstantiate(&graph, captured.get(), 0));
    graph_.reset(graph);
    check(cudaGraphUpload(graph, stream.get()));
}

void Graph::replay(Stream const& stream) const
{
    check(cudaGraphLaunch(graph_.get(), stream.get()));
}

} // namespace cuda
