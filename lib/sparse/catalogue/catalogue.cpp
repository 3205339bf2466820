#include "sparse/catalogue/catalogue.hpp"

#include "sparse/catalogue/catalogue_embedded.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

namespace sparse {
namespace {

using Arguments = std::span<Count const>;

/// A generator as the catalogue knows it.
struct Generator
{
    std::string_view name;
    std::vector<std::string_view> parameters;
    Pattern<> (*call)(Arguments);
};

std::uint64_t seed(Count argument)
{
    return static_cast<std::uint64_t>(argument);
}

std::vector<Generator> const& generators()
{
    static std::vector<Generator> const all{
        {"poisson2d", {"n"}, [](Arguments a) { return poisson2d(a[0]); }},
        {"stencil27", {"n"}, [](Arguments a) { return stencil27(a[0]); }},
        {"fem3", {"n"}, [](Arguments a) { return fem3(a[0]); }},
        {"fem3_shuffled",
         {"n", "window", "seed"},
         [](Arguments a) { return fem3_shuffled(a[0], a[1], seed(a[2])); }},
        {"banded", {"rows", "width"}, [](Arguments a) { return banded(a[0], a[1]); }},
        {"random_rows",
         {"rows", "columns", "per_row", "seed"},
         [](Arguments a) { return random_rows(a[0], a[1], a[2], seed(a[3])); }},
        {"rmat",
         {"scale", "edges", "seed"},
         [](Arguments a) { return rmat(a[0], a[1], seed(a[2])); }},
        {"dense_rows",
         {"rows", "full", "per_row", "window", "seed"},
         [](Arguments a) { return dense_rows(a[0], a[1], a[2], a[3], seed(a[4])); }},
        {"short_rows",
         {"rows", "window", "seed"},
         [](Arguments a) { return short_rows(a[0], a[1], seed(a[2])); }},
        {"local_rows",
         {"rows", "nonzeros", "window", "seed"},
         [](Arguments a) { return local_rows(a[0], a[1], a[2], seed(a[3])); }},
        {"runs",
         {"rows", "per_row", "segments", "window", "seed"},
         [](Arguments a) { return runs(a[0], a[1], a[2], a[3], seed(a[4])); }},
        {"dense", {"rows", "columns"}, [](Arguments a) { return dense(a[0], a[1]); }},
        {"empty", {"rows", "columns"}, [](Arguments a) { return empty(a[0], a[1]); }},
        {"ragged",
         {"rows", "columns", "longest", "seed"},
         [](Arguments a) { return ragged(a[0], a[1], a[2], seed(a[3])); }},
    };
    return all;
}

/// The generator that an entry names, which `read_generated` has checked.
Generator const& generator_of(Generated const& generated)
{
    auto const& all = generators();
    return *std::find_if(all.begin(), all.end(),
                         [&](Generator const& g) { return g.name == generated.generator; });
}

/// Levenshtein's distance: insertions, deletions and substitutions that turn `a` into `b`.
std::size_t distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        auto diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            auto const substituted = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

/// The three names most like `name`, separated by commas.
std::string nearest(std::string_view name, std::vector<std::string_view> names)
{
    auto const closer = [name](std::string_view a, std::string_view b) {
        return distance(name, a) < distance(name, b);
    };
    std::stable_sort(names.begin(), names.end(), closer);
    names.resize(std::min<std::size_t>(names.size(), 3));
    return fmt::format("{}", fmt::join(names, ", "));
}

template <class Map>
auto const& found(Map const& map, std::string_view kind, std::string_view name)
{
    auto const entry = map.find(name);
    if (entry == map.end()) {
        std::vector<std::string_view> names;
        std::transform(map.begin(), map.end(), std::back_inserter(names),
                       [](auto const& pair) -> std::string_view { return pair.first; });
        throw std::invalid_argument(fmt::format("unknown {} \"{}\"; the nearest names are {}", kind,
                                                name, nearest(name, std::move(names))));
    }
    return entry->second;
}

[[noreturn]] void fail(std::string_view file, toml::source_region const& place,
                       std::string_view problem)
{
    throw std::runtime_error(fmt::format("{}:{}: {}", file, place.begin.line, problem));
}

toml::table parsed(std::string_view text, std::string_view file)
{
    try {
        return toml::parse(text, file);
    } catch (toml::parse_error const& error) {
        fail(file, error.source(), error.description());
    }
}

/// Reads the keys of one table and complains of those nobody asked for.
class TableReader
{
public:
    TableReader(std::string_view file, std::string label, toml::node const& node)
        : file_{file}, label_{std::move(label)}, node_{node}
    {
        if (!node.is_table()) {
            fail("is not a table");
        }
    }

    bool has(std::string_view key) const { return table().contains(key); }

    std::string text(std::string_view key)
    {
        auto const value = required(key, "a text").value_exact<std::string>();
        if (!value || value->empty()) {
            expected(key, "a text");
        }
        return *value;
    }

    Count number(std::string_view key)
    {
        constexpr std::string_view kind = "a whole number from 0 on";
        auto const value = required(key, kind).value_exact<std::int64_t>();
        if (!value || *value < 0) {
            expected(key, kind);
        }
        return *value;
    }

    std::vector<std::string> texts(std::string_view key)
    {
        constexpr std::string_view kind = "an array of names";
        auto const* const array = required(key, kind).as_array();
        if (array == nullptr || !(array->empty() || array->is_homogeneous<std::string>())) {
            expected(key, kind);
        }
        std::vector<std::string> all;
        for (auto const& element : *array) {
            all.push_back(*element.value<std::string>());
        }
        return all;
    }

    /// Throws if the table has a key that was not read.
    void finish() const
    {
        for (auto const& [key, value] : table()) {
            if (!read_.contains(key.str())) {
                sparse::fail(file_, key.source(),
                             fmt::format("{}: unknown key \"{}\", expected {}", label_, key.str(),
                                         fmt::join(read_, ", ")));
            }
        }
    }

    [[noreturn]] void fail(std::string_view problem) const
    {
        sparse::fail(file_, node_.source(), fmt::format("{}: {}", label_, problem));
    }

private:
    toml::table const& table() const { return *node_.as_table(); }

    toml::node const& required(std::string_view key, std::string_view kind)
    {
        read_.emplace(key);
        auto const* const value = table().get(key);
        if (value == nullptr) {
            fail(fmt::format("no key \"{}\", expected {}", key, kind));
        }
        return *value;
    }

    [[noreturn]] void expected(std::string_view key, std::string_view kind) const
    {
        sparse::fail(file_, table().get(key)->source(),
                     fmt::format("{}: \"{}\" is not {}", label_, key, kind));
    }

    std::string_view file_;
    std::string label_;
    toml::node const& node_;
    std::set<std::string, std::less<>> read_;
};

Generated read_generated(TableReader& reader)
{
    Generated generated{.generator = reader.text("generator"), .arguments = {}};
    auto const& all = generators();
    auto const generator = std::find_if(
        all.begin(), all.end(), [&](Generator const& g) { return g.name == generated.generator; });
    if (generator == all.end()) {
        std::vector<std::string_view> names;
        std::transform(all.begin(), all.end(), std::back_inserter(names),
                       [](Generator const& g) { return g.name; });
        reader.fail(fmt::format("unknown generator \"{}\", expected {}", generated.generator,
                                fmt::join(names, ", ")));
    }
    for (auto const parameter : generator->parameters) {
        generated.arguments.push_back(reader.number(parameter));
    }
    return generated;
}

Collected read_collected(TableReader& reader)
{
    if (!reader.has("group")) {
        reader.fail("neither \"generator\" nor \"group\" says where it comes from");
    }
    return {.group = reader.text("group"),
            .name = reader.text("name"),
            .rows = reader.number("rows"),
            .columns = reader.number("columns"),
            .nonzeros = reader.number("nonzeros")};
}

CatalogueEntry read_entry(TableReader& reader)
{
    CatalogueEntry entry{.about = reader.text("about"), .source = {}};
    if (reader.has("generator")) {
        entry.source = read_generated(reader);
    } else {
        entry.source = read_collected(reader);
    }
    if (reader.has("stands_for")) {
        entry.stands_for = reader.text("stands_for");
    }
    reader.finish();
    return entry;
}

MatrixSet read_set(TableReader& reader)
{
    MatrixSet set{reader.texts("tiny"), reader.texts("quick"), reader.texts("full")};
    if (reader.has("book")) {
        set.book = reader.texts("book");
    }
    if (reader.has("xl")) {
        set.xl = reader.texts("xl");
    }
    reader.finish();
    return set;
}

bool is_sha256(std::string_view text)
{
    return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// The table `[key.*]` of the catalogue.
toml::table const& section(toml::table const& root, std::string_view file, std::string_view key)
{
    auto const* const table = root.get_as<toml::table>(key);
    if (table == nullptr) {
        throw std::runtime_error(fmt::format("{}: no table [{}.NAME]", file, key));
    }
    return *table;
}

} // namespace

Catalogue::Catalogue(std::string_view text, std::string_view file, std::string_view lock,
                     std::string_view lock_file)
{
    auto const root = parsed(text, file);
    for (auto const& [name, node] : section(root, file, "matrix")) {
        TableReader reader{file, fmt::format("matrix \"{}\"", name.str()), node};
        matrices_.emplace(name.str(), read_entry(reader));
    }
    for (auto const& [name, entry] : matrices_) {
        if (!entry.stands_for.empty() && !contains(entry.stands_for)) {
            throw std::runtime_error(
                fmt::format("{}: matrix \"{}\" stands for \"{}\", which is none", file, name,
                            entry.stands_for));
        }
    }
    for (auto const& [name, node] : section(root, file, "set")) {
        TableReader reader{file, fmt::format("set \"{}\"", name.str()), node};
        auto set = read_set(reader);
        for (auto const* const names : {&set.tiny, &set.quick, &set.full, &set.book, &set.xl}) {
            for (auto const& matrix : *names) {
                if (!contains(matrix)) {
                    reader.fail(fmt::format("unknown matrix \"{}\"", matrix));
                }
            }
        }
        sets_.emplace(name.str(), std::move(set));
    }
    for (auto const& [name, node] : parsed(lock, lock_file)) {
        auto const digest = node.value_exact<std::string>();
        if (!digest || !is_sha256(*digest)) {
            fail(lock_file, node.source(),
                 fmt::format("matrix \"{}\": not a SHA-256 of 64 hexadecimal digits", name.str()));
        }
        digests_.emplace(name.str(), *digest);
    }
}

Catalogue const& Catalogue::embedded()
{
    static Catalogue const catalogue{embedded_catalogue, "datasets/catalogue.toml",
                                     embedded_structures_lock, "datasets/structures.lock"};
    return catalogue;
}

CatalogueEntry const& Catalogue::matrix(std::string_view name) const
{
    return found(matrices_, "matrix", name);
}

MatrixSet const& Catalogue::set(std::string_view name) const
{
    return found(sets_, "set", name);
}

std::string_view Catalogue::pinned_digest(std::string_view name) const
{
    auto const entry = digests_.find(name);
    return entry == digests_.end() ? std::string_view{} : entry->second;
}

Pattern<> generate(Generated const& generated)
{
    return generator_of(generated).call(generated.arguments);
}

} // namespace sparse
