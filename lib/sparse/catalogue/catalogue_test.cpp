#include "sparse/catalogue/catalogue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace {

std::string const good = R"(
[matrix.grid]
about = "a grid"
generator = "poisson2d"
n = 3

[matrix.cant]
about = "finite elements"
group = "Williams"
name = "cant"
rows = 62_451
columns = 62_451
nonzeros = 4_007_383

[set.both]
tiny = ["grid"]
quick = ["grid", "cant"]
full = []
)";

std::string const digest(64, 'a');

sparse::Catalogue parsed(std::string const& text, std::string const& lock = "")
{
    return {text, "cat.toml", lock, "cat.lock"};
}

/// `good` with the first `what` replaced.
std::string with(std::string const& what, std::string const& replacement)
{
    auto text = good;
    auto const place = text.find(what);
    REQUIRE(place != text.npos);
    return text.replace(place, what.size(), replacement);
}

} // namespace

TEST_CASE("a catalogue knows its matrices, sets and digests")
{
    auto const catalogue = parsed(good, "grid = \"" + digest + "\"");
    CHECK(catalogue.matrices().size() == 2);
    CHECK(catalogue.contains("grid"));
    CHECK(!catalogue.contains("both"));
    CHECK(catalogue.matrix("grid").about == "a grid");
    auto const& generated = std::get<sparse::Generated>(catalogue.matrix("grid").source);
    CHECK(generated.generator == "poisson2d");
    CHECK(sparse::generate(generated).rows == 9);
    auto const& collected = std::get<sparse::Collected>(catalogue.matrix("cant").source);
    CHECK(collected.group == "Williams");
    CHECK(collected.name == "cant");
    CHECK(collected.rows == 62451);
    CHECK(collected.columns == 62451);
    CHECK(collected.nonzeros == 4007383);
    CHECK(catalogue.set("both").quick == std::vector<std::string>{"grid", "cant"});
    CHECK(catalogue.set("both").full.empty());
    CHECK(catalogue.pinned_digest("grid") == digest);
    CHECK(catalogue.pinned_digest("cant").empty());
}

TEST_CASE("unknown names are answered with the nearest ones")
{
    auto const& catalogue = sparse::Catalogue::embedded();
    CHECK_THROWS_WITH(catalogue.matrix("pois2"),
                      "unknown matrix \"pois2\"; the nearest names are pois2d, consph, dense2");
    CHECK_THROWS_WITH(catalogue.set("seriall"),
                      "unknown set \"seriall\"; the nearest names are serial, formats, threads");
}

TEST_CASE("errors name the file, the line, the entry and what was expected")
{
    CHECK_THROWS_WITH(parsed(with("n = 3", "n = \"3\"")),
                      "cat.toml:5: matrix \"grid\": \"n\" is not a whole number from 0 on");
    CHECK_THROWS_WITH(parsed(with("n = 3", "n = -3")),
                      "cat.toml:5: matrix \"grid\": \"n\" is not a whole number from 0 on");
    CHECK_THROWS_WITH(parsed(with("n = 3", "n = 3.0")),
                      "cat.toml:5: matrix \"grid\": \"n\" is not a whole number from 0 on");
    CHECK_THROWS_WITH(parsed(with("n = 3", "")), "cat.toml:2: matrix \"grid\": no key \"n\", "
                                                 "expected a whole number from 0 on");
    CHECK_THROWS_WITH(
        parsed(with("n = 3", "n = 3\nm = 4")),
        "cat.toml:6: matrix \"grid\": unknown key \"m\", expected about, generator, n");
    CHECK_THROWS_WITH(parsed(with("\"a grid\"", "7")),
                      "cat.toml:3: matrix \"grid\": \"about\" is not a text");
    CHECK_THROWS_WITH(parsed(with("rows = 62_451\n", "")),
                      "cat.toml:7: matrix \"cant\": no key \"rows\", "
                      "expected a whole number from 0 on");
    CHECK_THROWS_WITH(parsed(with("group = \"Williams\"\n", "")),
                      "cat.toml:7: matrix \"cant\": neither \"generator\" nor \"group\" says where "
                      "it comes from");
    CHECK_THROWS_WITH(parsed(with("quick = [\"grid\", \"cant\"]", "quick = [\"gird\"]")),
                      "cat.toml:15: set \"both\": unknown matrix \"gird\"");
    CHECK_THROWS_WITH(parsed(with("[matrix.grid]\n", "[matrix.grid]\nstands_for = \"gird\"\n")),
                      "cat.toml: matrix \"grid\" stands for \"gird\", which is none");
    CHECK_THROWS_WITH(parsed(with("quick = [\"grid\", \"cant\"]", "quick = [1]")),
                      "cat.toml:17: set \"both\": \"quick\" is not an array of names");
    CHECK_THROWS_WITH(parsed(with("[matrix.grid]", "[[matrix.grid]]")),
                      "cat.toml:2: matrix \"grid\": is not a table");
    CHECK_THROWS_WITH(parsed("[matrix.a]\nabout = \"b\"\n"),
                      "cat.toml:1: matrix \"a\": neither \"generator\" nor \"group\" says where "
                      "it comes from");
    CHECK_THROWS_WITH(parsed(""), "cat.toml: no table [matrix.NAME]");
    CHECK_THROWS_WITH(parsed("n = \n"), doctest::Contains("cat.toml:1: "));
    CHECK_THROWS_WITH(
        parsed(with("poisson2d", "poison")),
        doctest::Contains("cat.toml:2: matrix \"grid\": unknown generator \"poison\", "
                          "expected poisson2d, stencil27, "));
}

TEST_CASE("a lock holds digests and nothing else")
{
    CHECK_THROWS_WITH(parsed(good, "\ngrid = \"abc\""),
                      "cat.lock:2: matrix \"grid\": not a SHA-256 of 64 hexadecimal digits");
    CHECK_THROWS_WITH(parsed(good, "grid = 1"),
                      "cat.lock:1: matrix \"grid\": not a SHA-256 of 64 hexadecimal digits");
    CHECK_THROWS_WITH(parsed(good, "grid"), doctest::Contains("cat.lock:1: "));
}

TEST_CASE("the embedded catalogue is complete")
{
    auto const& catalogue = sparse::Catalogue::embedded();
    for (auto const& [label, entry] : catalogue.matrices()) {
        std::string const name{label};
        CAPTURE(name);
        CHECK(name.find('/') == name.npos);
        CHECK(!name.ends_with(".mtx"));
        bool const generated = std::holds_alternative<sparse::Generated>(entry.source);
        CHECK(catalogue.pinned_digest(name).empty() != generated);
    }
    for (std::string const name :
         {"pois2d", "sten27", "fem3", "fem3s", "band64", "random", "rmat", "dnrow", "short"}) {
        CAPTURE(name);
        auto const has = [](std::vector<std::string> const& names, std::string const& wanted) {
            return std::find(names.begin(), names.end(), wanted) != names.end();
        };
        CHECK(has(catalogue.set("serial").tiny, name + "-tiny"));
        CHECK(has(catalogue.set("serial").full, name));
        CHECK(has(catalogue.set("serial").xl, name + "-xl"));
    }
}
