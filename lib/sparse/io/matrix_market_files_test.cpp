#include "sparse/features.hpp"
#include "sparse/io/matrix_market.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

// A collection of real, awkward and malformed files that is not part of the repository. Without it
// there is nothing to check here; the texts of matrix_market_cases.cpp cover the same ground.

namespace {

namespace fs = std::filesystem;

fs::path collection()
{
    auto const* const path = std::getenv("MEMWALL_MATRICES");
    return path != nullptr ? path : "";
}

std::vector<fs::path> matrices(std::string const& folder)
{
    std::vector<fs::path> files;
    if (fs::is_directory(collection() / folder)) {
        for (auto const& entry : fs::directory_iterator{collection() / folder}) {
            if (entry.path().filename().string().find(".mtx") != std::string::npos) {
                files.push_back(entry.path());
            }
        }
    }
    return files;
}

using Cells = std::map<std::string, std::string>;

std::vector<std::string> cells(std::string const& line)
{
    std::vector<std::string> result;
    std::istringstream stream{line};
    for (std::string cell; std::getline(stream, cell, '\t');) {
        result.push_back(cell);
    }
    return result;
}

std::vector<Cells> table(fs::path const& file)
{
    std::ifstream stream{file};
    std::string line;
    std::getline(stream, line);
    auto const names = cells(line);
    std::vector<Cells> rows;
    while (std::getline(stream, line)) {
        auto const values = cells(line);
        Cells row;
        for (std::size_t k = 0; k < std::min(names.size(), values.size()); ++k) {
            row[names[k]] = values[k];
        }
        rows.push_back(row);
    }
    return rows;
}

/// Half a unit of the last decimal place the table gives.
double printed_precision(std::string const& name)
{
    static std::map<std::string, double> const precisions{
        {"mean_row", 5e-4}, {"std_row", 5e-3}, {"nzseg_per_nnz", 5e-5}};
    auto const found = precisions.find(name);
    return found == precisions.end() ? 0.0 : found->second * (1 + 1e-9);
}

} // namespace

TEST_CASE("features of the collection equal its index")
{
    for (auto const& row : table(collection() / "index.tsv")) {
        CAPTURE(row.at("name"));
        auto const pattern = sparse::read_matrix_market_pattern(collection() / row.at("file"));
        for (auto const& [label, number] : sparse::named(sparse::features(pattern))) {
            std::string const name{label};
            if (auto const cell = row.find(name); cell != row.end()) {
                CAPTURE(name);
                CHECK(std::abs(number - std::stod(cell->second)) <= printed_precision(name));
            }
        }
    }
}

TEST_CASE("awkward files of the collection are read")
{
    for (auto const& file : matrices("odd")) {
        CAPTURE(file);
        auto const a = sparse::read_matrix_market<double>(file, {.complex_real_part = true});
        CHECK(sparse::read_matrix_market_pattern(file).col == a.col);
    }
}

TEST_CASE("malformed files of the collection are refused in one line")
{
    for (auto const& file : matrices("bad")) {
        CAPTURE(file);
        std::string message;
        try {
            sparse::read_matrix_market<double>(file, {.complex_real_part = true});
        } catch (sparse::MatrixMarketError const& e) {
            message = e.what();
        }
        CHECK(message.starts_with(file.string() + ":"));
        CHECK(message.find(": found ") != std::string::npos);
        CHECK(message.find(", expected ") != std::string::npos);
        CHECK(message.find('\n') == std::string::npos);
        CHECK_THROWS_AS(sparse::read_matrix_market_pattern<std::int64_t>(file),
                        sparse::MatrixMarketError);
    }
}
