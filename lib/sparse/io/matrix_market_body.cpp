#include "sparse/io/matrix_market_body.hpp"

#include <fmt/format.h>

namespace sparse::matrix_market {

Layout::Layout(MatrixMarketHeader const& header)
{
    if (header.format == MatrixMarketFormat::coordinate) {
        add(Part::row);
        add(Part::column);
    }
    if (header.field == MatrixMarketField::integer) {
        add(Part::integer);
    } else if (header.field != MatrixMarketField::pattern) {
        add(Part::real);
    }
    if (header.field == MatrixMarketField::complex) {
        add(Part::imaginary);
    }
}

std::string Layout::text() const
{
    std::string result;
    for (std::size_t k = 0; k < size_; ++k) {
        result += k == 0 ? "" : k + 1 == size_ ? " and " : ", ";
        switch (parts_[k]) {
        case Part::row:
            result += "row";
            break;
        case Part::column:
            result += "column";
            break;
        case Part::integer:
            result += "integer value";
            break;
        case Part::real:
            result += "value";
            break;
        case Part::imaginary:
            result += "imaginary part";
            break;
        }
    }
    return result;
}

namespace {

std::int64_t first_row(MatrixMarketHeader const& header, std::int64_t column)
{
    switch (header.symmetry) {
    case MatrixMarketSymmetry::general:
        return 0;
    case MatrixMarketSymmetry::skew_symmetric:
        return column + 1;
    case MatrixMarketSymmetry::symmetric:
    case MatrixMarketSymmetry::hermitian:
        break;
    }
    return column;
}

} // namespace

Position array_position(MatrixMarketHeader const& header, std::int64_t ordinal)
{
    if (ordinal >= header.entries || header.rows == 0) {
        return {};
    }
    if (header.symmetry == MatrixMarketSymmetry::general) {
        return {ordinal % header.rows, ordinal / header.rows};
    }
    // At most as many steps as the square root of twice the number of values.
    Position position{ordinal, 0};
    for (;; ++position.column) {
        auto const first = first_row(header, position.column);
        if (position.row < header.rows - first) {
            position.row += first;
            return position;
        }
        position.row -= header.rows - first;
    }
}

Position array_successor(MatrixMarketHeader const& header, Position position)
{
    if (position.row + 1 < header.rows) {
        return {position.row + 1, position.column};
    }
    return {first_row(header, position.column + 1), position.column + 1};
}

std::string BodyErrors::declared_entries() const
{
    return fmt::format("{} as line {} declares", header_.entries, header_.size_line);
}

void BodyErrors::bad_number(Cursor const& at, Part part, bool is_float) const
{
    auto const found = quoted(at.token());
    switch (part) {
    case Part::row:
        fail(at.line(), found, fmt::format("a row from 1 to {}", header_.rows));
    case Part::column:
        fail(at.line(), found, fmt::format("a column from 1 to {}", header_.columns));
    case Part::integer:
        fail(at.line(), found, "an integer value within 64 bits");
    case Part::real:
    case Part::imaginary:
        break;
    }
    fail(at.line(), found,
         fmt::format("a number within the range of {}", is_float ? "float" : "double"));
}

void BodyErrors::superfluous_entry(Cursor at) const
{
    auto const line = at.line();
    fail(line, fmt::format("entry {}: {}", header_.entries + 1, quoted(at.take_line())),
         declared_entries());
}

void BodyErrors::unfinished_line(Cursor at, std::size_t first_line) const
{
    auto const line = at.line();
    auto const numbers = layout_.text();
    if (first_line != line) {
        fail(first_line, fmt::format("an entry that line {} does not end", line), numbers);
    }
    fail(line, quoted(at.take_line()), "the end of the line after " + numbers);
}

void BodyErrors::bad_diagonal(std::size_t line, double real, double imaginary) const
{
    if (header_.symmetry == MatrixMarketSymmetry::hermitian) {
        fail(line, fmt::format("imaginary part {} on the diagonal", imaginary),
             "0, since the matrix is hermitian");
    }
    auto const value = header_.field == MatrixMarketField::complex
                           ? fmt::format("{} {}", real, imaginary)
                           : fmt::format("{}", real);
    fail(line, fmt::format("value {} on the diagonal", value),
         "0, since the matrix is skew-symmetric");
}

void BodyErrors::broken_entry(std::size_t line, std::size_t numbers) const
{
    fail(line, fmt::format("the end of the file after {} of an entry's numbers", numbers),
         layout_.text());
}

void BodyErrors::missing_entries(std::size_t line, std::int64_t entries) const
{
    fail(line, fmt::format("the end of the file after {} entries", entries), declared_entries());
}

} // namespace sparse::matrix_market
