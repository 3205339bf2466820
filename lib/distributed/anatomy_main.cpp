#include "distributed/anatomy.hpp"

#include "base/output.hpp"
#include "base/program.hpp"
#include "sparse/io/matrix_market.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_cells = 160;
constexpr int most_ranks = 1024;

Json as_json(distributed::Dealt const& dealt)
{
    auto const& t = dealt.traffic;
    return {{"way", dealt.way},
            {"ranks", t.ranks},
            {"imbalance", t.imbalance()},
            {"ghosts", t.ghosts},
            {"most_ghosts", t.most_ghosts},
            {"messages", t.messages},
            {"most_messages", t.most_messages},
            {"idle_ranks", t.idle_ranks}};
}

Json as_json(distributed::Anatomy const& found)
{
    return {{"spy_rows", found.spy_rows},
            {"spy_columns", found.spy_columns},
            {"spy", found.spy},
            {"row_lengths", found.row_lengths},
            {"run_lengths", found.run_lengths},
            {"distances", found.distances},
            {"lower_bandwidth", found.lower_bandwidth},
            {"upper_bandwidth", found.upper_bandwidth}};
}

void tell(std::string const& what)
{
    fmt::print(stderr, "{}\n", what);
    std::fflush(stderr);
}

/// Traffic of contiguous partitions for 2 to 1,024 ranks, as far as each can have a row.
Json contiguous_partitions(sparse::PatternView<std::int32_t> const& a)
{
    auto list = Json::array();
    for (int ranks = 2; ranks <= std::min<int>(most_ranks, a.rows); ranks *= 2) {
        tell(fmt::format("contiguous partitions for {} ranks", ranks));
        for (auto const& dealt : distributed::contiguous(a, ranks)) {
            list.push_back(as_json(dealt));
        }
    }
    return list;
}

/// Traffic of graph partitions for 8 and 128 ranks, or why there are none.
void add_graph_partitions(sparse::PatternView<std::int32_t> const& a, Json& json)
{
    json["graph_partitioner"] = distributed::graph_partitioner();
    for (int const ranks : {8, 128}) {
        if (ranks > a.rows) {
            continue;
        }
        tell(fmt::format("graph partition for {} ranks", ranks));
        try {
            auto const rows = distributed::by_graph(a, ranks);
            auto const columns = distributed::columns_with(rows, a.columns);
            json["partitions"].push_back(
                as_json({"graph", distributed::traffic(a, rows, columns)}));
        } catch (std::exception const& reason) {
            json["graph_missing"] = reason.what();
            return;
        }
    }
}

} // namespace

/// Prints as JSON where the nonzeros of a Matrix Market file lie, and how well ranks share them.
int main(int argc, char** argv)
{
    return base::program("anatomy", [&] {
        CLI::App app{"Prints where the nonzeros of a Matrix Market file lie, and what partitions of"
                     " its rows cost."};
        std::string file;
        app.add_option("FILE", file, "a .mtx or .mtx.gz file, complex ones too")->required();
        try {
            app.parse(argc, argv);
        } catch (CLI::CallForHelp const&) {
            base::print(app.help());
            return 0;
        }
        try {
            tell("reads the matrix");
            auto const a = sparse::read_matrix_market_pattern<std::int32_t>(file);
            auto json = as_json(distributed::anatomy(a, most_cells));
            json["partitions"] = contiguous_partitions(a);
            add_graph_partitions(a, json);
            base::print(json.dump() + "\n");
        } catch (std::bad_alloc const&) {
            throw std::runtime_error{file + ": not enough memory"};
        }
        return 0;
    });
}
