#include "sparse/catalogue/datasets.hpp"

#include "sparse/catalogue/digest.hpp"
#include "sparse/features.hpp"
#include "sparse/io/matrix_market.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>

namespace sparse {
namespace {

std::filesystem::path default_cache()
{
    auto const* const folder = std::getenv("MEMWALL_CACHE");
    return folder != nullptr && *folder != '\0' ? folder : "datasets/cache";
}

bool is_path(std::string_view name)
{
    return name.find('/') != name.npos || name.ends_with(".mtx") || name.ends_with(".mtx.gz");
}

void require_size(std::string const& file, std::string_view what, Count found, Count expected)
{
    if (found != expected) {
        throw std::runtime_error(fmt::format("{}: found {} {}, expected {} as the catalogue says",
                                             file, found, what, expected));
    }
}

Description described(Pattern<> const& pattern)
{
    auto const f = features(pattern);
    return {.sha256 = structure_digest(pattern),
            .features = {{"rows", static_cast<double>(f.rows)},
                         {"columns", static_cast<double>(f.columns)},
                         {"nonzeros", static_cast<double>(f.nonzeros)},
                         {"mean_row", f.mean_row},
                         {"max_row", static_cast<double>(f.max_row)},
                         {"std_row", f.std_row},
                         {"empty_rows", static_cast<double>(f.empty_rows)},
                         {"nzseg_per_nnz", f.segments_per_nonzero()}}};
}

} // namespace

Datasets::Datasets() : Datasets{Catalogue::embedded(), default_cache()} {}

Datasets::Datasets(Catalogue catalogue, std::filesystem::path cache)
    : catalogue_{std::move(catalogue)}, cache_{std::move(cache)}
{
}

MatrixSet Datasets::set(std::string_view name) const
{
    auto chosen = catalogue_.set(name);
    chosen.require = [this](std::string const& matrix) { require(matrix); };
    return chosen;
}

MatrixSet Datasets::set_beyond_cache(std::string_view name, std::size_t cache_bytes) const
{
    constexpr std::size_t plain_is_beyond = 100'000'000; // 10 M nonzeros of fp64 are 120 MB
    auto chosen = set(name);
    if (cache_bytes > plain_is_beyond && !chosen.xl.empty()) {
        chosen.full = chosen.xl;
    }
    return chosen;
}

void Datasets::require(std::string const& name) const
{
    if (is_path(name)) {
        auto const found = std::filesystem::status(name);
        if (!std::filesystem::is_regular_file(found)) {
            throw std::runtime_error(fmt::format(
                "{}: {}", name,
                std::filesystem::exists(found) ? "is not a regular file" : "no such file"));
        }
        return;
    }
    auto const& source = catalogue_.matrix(name).source;
    if (auto const* const collected = std::get_if<Collected>(&source)) {
        file_of(name, *collected);
    }
}

bool Datasets::stands_for_larger(std::string_view name) const
{
    return catalogue_.contains(name) && !catalogue_.matrix(name).stands_for.empty();
}

Pattern<> const& Datasets::structure(std::string const& name)
{
    if (name != kept_name_) {
        kept_name_.clear();
        kept_ = {}; // two large structures might not fit
        kept_ = read(name);
        kept_name_ = name;
    }
    return kept_;
}

Description const& Datasets::description(std::string const& name)
{
    if (auto const known = descriptions_.find(name); known != descriptions_.end()) {
        return known->second;
    }
    auto description = described(structure(name));
    auto const pinned = catalogue_.pinned_digest(name);
    if (!pinned.empty() && pinned != description.sha256) {
        throw std::runtime_error(
            fmt::format("matrix \"{}\": the structure generated has SHA-256 {}, expected {} as "
                        "pinned in datasets/structures.lock",
                        name, description.sha256, pinned));
    }
    return descriptions_.emplace(name, std::move(description)).first->second;
}

Pattern<> Datasets::read(std::string const& name) const
{
    if (is_path(name)) {
        return read_matrix_market_pattern(name);
    }
    auto const& source = catalogue_.matrix(name).source;
    if (auto const* const collected = std::get_if<Collected>(&source)) {
        return read_collected(name, *collected);
    }
    try {
        return generate(std::get<Generated>(source));
    } catch (std::invalid_argument const& error) {
        throw std::runtime_error(
            fmt::format("matrix \"{}\" of the catalogue: {}", name, error.what()));
    }
}

std::filesystem::path Datasets::file_of(std::string const& name, Collected const& collected) const
{
    auto file = cache_ / collected.group / (collected.name + ".mtx");
    if (!std::filesystem::exists(file)) {
        throw std::runtime_error(
            fmt::format("matrix \"{}\" is not in {}: get it with `just fetch {}`", name,
                        cache_.string(), name));
    }
    return file;
}

Pattern<> Datasets::read_collected(std::string const& name, Collected const& collected) const
{
    auto const file = file_of(name, collected);
    auto pattern = read_matrix_market_pattern(file);
    require_size(file.string(), "rows", pattern.rows, collected.rows);
    require_size(file.string(), "columns", pattern.columns, collected.columns);
    require_size(file.string(), "nonzeros", static_cast<Count>(pattern.nonzeros()),
                 collected.nonzeros);
    return pattern;
}

} // namespace sparse
