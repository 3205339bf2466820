#include "sparse/io/matrix_market_header.hpp"

#include "sparse/io/matrix_market_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace sparse::matrix_market {

namespace {

template <class Value, std::size_t count>
using Names = std::array<std::pair<std::string_view, Value>, count>;

using enum MatrixMarketFormat;
using enum MatrixMarketField;
using enum MatrixMarketSymmetry;

constexpr auto largest = std::numeric_limits<std::int64_t>::max();

constexpr Names<MatrixMarketFormat, 2> formats{{{"coordinate", coordinate}, {"array", array}}};
constexpr Names<MatrixMarketField, 4> fields{
    {{"real", real}, {"integer", integer}, {"complex", complex}, {"pattern", pattern}}};
constexpr Names<MatrixMarketSymmetry, 4> symmetries{{{"general", general},
                                                     {"symmetric", symmetric},
                                                     {"skew-symmetric", skew_symmetric},
                                                     {"hermitian", hermitian}}};

std::string lower(std::string_view text)
{
    std::string result{text};
    std::transform(result.begin(), result.end(), result.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return result;
}

template <class Value, std::size_t count>
std::string_view name_of(Names<Value, count> const& names, Value value)
{
    return std::find_if(names.begin(), names.end(),
                        [&](auto const& n) { return n.second == value; })
        ->first;
}

template <class Value, std::size_t count>
std::string choice(Names<Value, count> const& names)
{
    std::string text;
    for (auto const& [name, value] : names) {
        text += (text.empty() ? "" : " or ") + std::string{name};
    }
    return text;
}

std::vector<std::string_view> words(std::string_view line)
{
    std::vector<std::string_view> result;
    Cursor cursor{line, 0};
    for (cursor.skip_blanks(); !cursor.at_line_end(); cursor.skip_blanks()) {
        result.push_back(cursor.take_token());
    }
    return result;
}

template <class Value, std::size_t count>
Value choose(Names<Value, count> const& names, std::string_view word, std::string const& file)
{
    for (auto const& [name, value] : names) {
        if (lower(word) == name) {
            return value;
        }
    }
    throw MatrixMarketError{file, 1, quoted(word), choice(names)};
}

std::string kind_of(MatrixMarketHeader const& header)
{
    return fmt::format("{} {} {}", name_of(formats, header.format), name_of(fields, header.field),
                       name_of(symmetries, header.symmetry));
}

void check_kind(MatrixMarketHeader const& header, std::string const& file)
{
    auto const fail = [&](std::string const& expected) {
        throw MatrixMarketError{file, 1, header.kind(), expected};
    };
    if (header.field == pattern && header.format == array) {
        fail("values in an array");
    }
    if (header.field == pattern && header.symmetry != general && header.symmetry != symmetric) {
        fail("a pattern to be general or symmetric");
    }
    if (header.symmetry == hermitian && header.field != complex) {
        fail("a hermitian matrix to be complex");
    }
}

MatrixMarketHeader read_banner(Cursor& cursor, std::string const& file)
{
    auto const at_end = cursor.rest().empty();
    auto const line = cursor.take_line();
    auto const tokens = words(line);
    if (tokens.size() != 5 || lower(tokens[0]) != "%%matrixmarket" ||
        lower(tokens[1]) != "matrix") {
        throw MatrixMarketError{file, 1, at_end ? "the end of the file" : quoted(line),
                                "a banner: %%MatrixMarket matrix FORMAT FIELD SYMMETRY"};
    }
    MatrixMarketHeader header;
    header.format = choose(formats, tokens[2], file);
    header.field = choose(fields, tokens[3], file);
    header.symmetry = choose(symmetries, tokens[4], file);
    check_kind(header, file);
    return header;
}

std::int64_t read_size(std::string_view word, std::size_t line, std::string const& file)
{
    auto const size = Cursor{word, line}.integer();
    if (!size || *size < 0) {
        throw MatrixMarketError{file, line, quoted(word),
                                "a size from 0 to " + std::to_string(largest)};
    }
    return *size;
}

/// a * b, nothing if beyond 64 bits; both are at least 0.
std::optional<std::int64_t> product(std::int64_t a, std::int64_t b)
{
    if (b != 0 && a > largest / b) {
        return {};
    }
    return a * b;
}

/// Number of values an array file holds; nothing if beyond 64 bits.
std::optional<std::int64_t> array_entries(MatrixMarketHeader const& header)
{
    if (header.symmetry == general) {
        return product(header.rows, header.columns);
    }
    auto const n = static_cast<std::uint64_t>(header.rows);
    if (n >> 32 != 0) {
        return {};
    }
    auto const both = header.symmetry == skew_symmetric ? n * (n - 1) : n * (n + 1);
    return static_cast<std::int64_t>(both / 2);
}

void read_sizes(Cursor& cursor, MatrixMarketHeader& header, std::string const& file)
{
    auto const line = cursor.line();
    auto const text = cursor.take_line();
    auto const tokens = words(text);
    auto const is_array = header.format == array;
    if (tokens.size() != (is_array ? 2 : 3)) {
        throw MatrixMarketError{file, line, quoted(text),
                                is_array ? "rows and columns"
                                         : "rows, columns and number of entries"};
    }
    header.size_line = line;
    header.rows = read_size(tokens[0], line, file);
    header.columns = read_size(tokens[1], line, file);
    if (header.symmetry != general && header.rows != header.columns) {
        throw MatrixMarketError{file, line, quoted(text),
                                fmt::format("as many rows as columns, since the matrix is {}",
                                            name_of(symmetries, header.symmetry))};
    }
    auto const entries = is_array ? array_entries(header) : read_size(tokens[2], line, file);
    if (!entries) {
        throw MatrixMarketError{file, line, quoted(text),
                                fmt::format("at most {} values", largest)};
    }
    header.entries = *entries;
    auto const positions = product(header.rows, header.columns).value_or(largest);
    if (header.entries > positions) {
        throw MatrixMarketError{file, line, fmt::format("{} entries", header.entries),
                                fmt::format("at most rows times columns = {}", positions)};
    }
}

} // namespace

Opening read_opening(Text& text, std::string const& name)
try {
    auto block = text.next();
    if (block.starts_with("\xef\xbb\xbf")) {
        block.remove_prefix(3);
    }
    if (block.empty()) {
        expect_undamaged(text, name, 1);
    }
    Cursor cursor{block, 1};
    auto header = read_banner(cursor, name);
    while (!cursor.find_data()) {
        block = text.next();
        if (block.empty()) {
            expect_undamaged(text, name, cursor.line());
            throw MatrixMarketError{name, cursor.line(), "the end of the file", "a size line"};
        }
        cursor = Cursor{block, cursor.line()};
    }
    read_sizes(cursor, header, name);
    return {header, cursor.rest(), cursor.line()};
} catch (std::bad_alloc const&) {
    throw MatrixMarketError{name, "cannot be read: not enough memory for its first lines"};
}

template <class I>
void check_sizes(MatrixMarketHeader const& header, std::string const& name,
                 ReadOptions const& options)
{
    constexpr std::int64_t most = std::numeric_limits<I>::max();
    auto const check = [&](std::int64_t size, std::string_view what) {
        if (size > most) {
            throw MatrixMarketError{
                name, header.size_line, fmt::format("{} {}", size, what),
                fmt::format("at most {} with {}-bit indices", most, 8 * sizeof(I))};
        }
    };
    check(header.rows, "rows");
    check(header.columns, "columns");
    if (header.format == MatrixMarketFormat::coordinate) {
        check(header.entries, "entries");
    }
    if (header.rows - header.entries > options.max_empty_rows) {
        throw MatrixMarketError{
            name, header.size_line,
            fmt::format("{} rows for {} entries", header.rows, header.entries),
            fmt::format("at most {} rows more than entries", options.max_empty_rows)};
    }
}

template void check_sizes<std::int32_t>(MatrixMarketHeader const&, std::string const&,
                                        ReadOptions const&);
template void check_sizes<std::int64_t>(MatrixMarketHeader const&, std::string const&,
                                        ReadOptions const&);

} // namespace sparse::matrix_market

namespace sparse {

std::string MatrixMarketHeader::kind() const
{
    return matrix_market::kind_of(*this);
}

} // namespace sparse
