#include "base/output.hpp"
#include "base/program.hpp"
#include "sparse/features.hpp"
#include "sparse/io/matrix_market.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <new>
#include <stdexcept>
#include <string>

namespace {

std::string as_json(sparse::MatrixMarketHeader const& header, sparse::Features const& features)
{
    nlohmann::ordered_json json{{"kind", header.kind()}, {"entries", header.entries}};
    for (auto const& [name, number] : sparse::named(features)) {
        if (number == std::trunc(number) && !name.starts_with("mean") && !name.starts_with("std")) {
            json[name] = static_cast<std::int64_t>(number);
        } else {
            json[name] = number;
        }
    }
    return json.dump(2);
}

std::string as_text(sparse::MatrixMarketHeader const& header, sparse::Features const& f)
{
    auto text = fmt::format("{:<16}{}, {} entries\n", "file", header.kind(), header.entries);
    text += fmt::format("{:<16}{}\n", "rows", f.rows);
    text += fmt::format("{:<16}{}\n", "columns", f.columns);
    text += fmt::format("{:<16}{}\n", "nonzeros", f.nonzeros);
    text += fmt::format("{:<16}mean {:.3f}, max {}, standard deviation {:.2f}\n", "row length",
                        f.mean_row, f.max_row, f.std_row);
    text += fmt::format("{:<16}{}\n", "empty rows", f.empty_rows);
    text += fmt::format("{:<16}{} runs of consecutive columns, {:.4f} per nonzero", "segments",
                        f.segments, f.segments_per_nonzero());
    return text;
}

} // namespace

/// Prints what the structure of a Matrix Market file is like.
int main(int argc, char** argv)
{
    return base::program("describe", [&] {
        CLI::App app{"Prints the structure features of a Matrix Market file."};
        std::string file;
        auto json = false;
        sparse::ReadOptions options;
        app.add_option("FILE", file, "a .mtx or .mtx.gz file, complex ones too")->required();
        app.add_flag("--json", json, "print one JSON object");
        app.add_option("--max-empty-rows", options.max_empty_rows,
                       "how many more rows than entries to accept, 8 bytes of memory each")
            ->capture_default_str();
        try {
            app.parse(argc, argv);
        } catch (CLI::CallForHelp const&) {
            base::print(app.help());
            return 0;
        }
        try {
            auto const header = sparse::read_matrix_market_header(file);
            auto const a = sparse::read_matrix_market_pattern<std::int64_t>(file, options);
            auto const features = sparse::features(a);
            base::print((json ? as_json(header, features) : as_text(header, features)) + "\n");
        } catch (std::bad_alloc const&) {
            throw std::runtime_error{file + ": not enough memory"};
        }
        return 0;
    });
}
