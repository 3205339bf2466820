#include "distributed/graph.hpp"
#include "distributed/partition.hpp"

#include <fmt/format.h>
#include <metis.h>

#include <array>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace distributed {

namespace {

/// Keeps what METIS prints about small parts from standard output, where results may go.
class Muted
{
public:
    Muted() : output_{::dup(STDOUT_FILENO)}
    {
        std::fflush(stdout);
        int const nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
        ::dup2(nowhere, STDOUT_FILENO);
        ::close(nowhere);
    }
    ~Muted()
    {
        std::fflush(stdout);
        ::dup2(output_, STDOUT_FILENO);
        ::close(output_);
    }
    Muted(Muted const&) = delete;
    Muted& operator=(Muted const&) = delete;

private:
    int output_;
};

} // namespace

std::string_view graph_partitioner()
{
    static auto const name =
        fmt::format("METIS {}.{}.{}", METIS_VER_MAJOR, METIS_VER_MINOR, METIS_VER_SUBMINOR);
    return name;
}

template <class I>
std::vector<std::int32_t> cut_graph(sparse::PatternView<I> const& a, int parts)
{
    auto graph = graph_of<idx_t>(a);
    std::array<idx_t, METIS_NOPTIONS> options{};
    METIS_SetDefaultOptions(options.data());
    options[METIS_OPTION_SEED] = 1;
    idx_t vertices = graph.vertices();
    idx_t constraints = 1;
    idx_t count = parts;
    idx_t cut_edges = 0;
    std::vector<idx_t> part(graph.work.size());
    Muted const muted;
    auto const status = METIS_PartGraphKway(
        &vertices, &constraints, graph.offsets.data(), graph.neighbours.data(), graph.work.data(),
        nullptr, nullptr, &count, nullptr, nullptr, options.data(), &cut_edges, part.data());
    if (status != METIS_OK) {
        throw std::runtime_error{fmt::format("METIS_PartGraphKway failed with code {}", status)};
    }
    return {part.begin(), part.end()};
}

template std::vector<std::int32_t> cut_graph(sparse::PatternView<std::int32_t> const&, int);
template std::vector<std::int32_t> cut_graph(sparse::PatternView<std::int64_t> const&, int);

} // namespace distributed
