#include "sparse/io/matrix_market_cases.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace {

/// Writes one text as it is or through gzip.
void write(std::filesystem::path const& file, std::string_view text, bool compress)
{
    auto* const stream = gzopen(file.c_str(), compress ? "wb" : "wbT");
    if (stream == nullptr) {
        throw std::runtime_error{fmt::format("{}: cannot be written", file.string())};
    }
    auto const size = static_cast<unsigned>(text.size());
    auto const written = gzwrite(stream, text.data(), size);
    if (gzclose(stream) != Z_OK || written != static_cast<int>(size)) {
        throw std::runtime_error{fmt::format("{}: cannot be written", file.string())};
    }
}

} // namespace

/// Writes the texts of the tests to a folder, plain and gzip, for the fuzzer to start from.
int main(int argc, char** argv)
{
    if (argc != 2) {
        fmt::print(stderr, "usage: {} FOLDER\n", argv[0]);
        return 2;
    }
    try {
        std::filesystem::path const folder{argv[1]};
        std::filesystem::create_directories(folder);
        std::size_t number = 0;
        auto const add = [&](std::string_view text) {
            auto const name = fmt::format("{:03}", number++);
            write(folder / (name + ".mtx"), text, false);
            write(folder / (name + ".mtx.gz"), text, true);
        };
        for (auto const& good : sparse::cases::good()) {
            add(good.text);
        }
        for (auto const& bad : sparse::cases::bad()) {
            add(bad.text);
        }
    } catch (std::exception const& e) {
        fmt::print(stderr, "{}\n", e.what());
        return 2;
    }
}
