#pragma once

#include "sparse/assemble.hpp"
#include "sparse/io/matrix_market.hpp"
#include "sparse/io/matrix_market_scan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace sparse::matrix_market {

/// What one number of an entry says.
enum class Part
{
    row,
    column,
    integer,
    real,
    imaginary
};

/// The numbers of an entry, in the order in which they are written.
class Layout
{
public:
    /// As banner and format have it.
    explicit Layout(MatrixMarketHeader const& header);

    /// Numbers of an entry.
    std::size_t size() const { return size_; }
    /// What number `k` says.
    Part operator[](std::size_t k) const { return parts_[k]; }

    /// "row, column and value"
    std::string text() const;

private:
    void add(Part part) { parts_[size_++] = part; }

    std::array<Part, 4> parts_{};
    std::size_t size_ = 0;
};

/// A place in a matrix.
struct Position
{
    std::int64_t row = 0;    ///< from 0
    std::int64_t column = 0; ///< from 0
};

/// Where value `ordinal` of an array file stands. Such a file holds the columns one after another,
/// without their upper triangle (skew-symmetric: nor the diagonal) unless it is general. `header`
/// must be an array's; beyond the last value the place means nothing.
Position array_position(MatrixMarketHeader const& header, std::int64_t ordinal);

/// The place of the value after that at `position` of an array file.
Position array_successor(MatrixMarketHeader const& header, Position position);

/// An entry, of which perhaps not all numbers have been read yet.
template <class Number>
struct PartialEntry
{
    std::size_t numbers = 0; ///< numbers read so far
    std::size_t line = 0;    ///< where the entry begins
    Position position;       ///< as far as it is known
    Number real = 1;         ///< stays 1 in a pattern
    Number imaginary = 0;    ///< stays 0 unless complex
    bool is_zero = true; ///< whether all values read so far were written as zeros; array files only
};

/// All that the meaning of the next characters depends on.
template <class Number>
struct Progress
{
    std::int64_t ordinal = 0;   ///< complete entries before
    std::size_t line = 1;       ///< number of the line
    PartialEntry<Number> entry; ///< has numbers if a line end broke an entry off
};

/// What is wrong with a body. All functions throw `MatrixMarketError`.
class BodyErrors
{
public:
    /// For the body below `header` in the file `name`.
    BodyErrors(MatrixMarketHeader const& header, std::string name)
        : header_{header}, layout_{header}, name_{std::move(name)}
    {
    }

    /// As given.
    MatrixMarketHeader const& header() const { return header_; }
    /// What an entry consists of.
    Layout const& layout() const { return layout_; }

    /// The token at a place is no number, or not one that may stand there.
    [[noreturn]] void bad_number(Cursor const& at, Part part, bool is_float) const;
    /// At this place begins one more entry than declared.
    [[noreturn]] void superfluous_entry(Cursor at) const;
    /// At this place a line goes on behind the entry that began at `first_line`.
    [[noreturn]] void unfinished_line(Cursor at, std::size_t first_line) const;
    /// This value must not stand on the diagonal.
    [[noreturn]] void bad_diagonal(std::size_t line, double real, double imaginary) const;
    /// The file ends within the entry that began at `line`.
    [[noreturn]] void broken_entry(std::size_t line, std::size_t numbers) const;
    /// The file ends at `line` after fewer entries than declared.
    [[noreturn]] void missing_entries(std::size_t line, std::int64_t entries) const;

private:
    [[noreturn]] void fail(std::size_t line, std::string const& found,
                           std::string const& expected) const
    {
        throw MatrixMarketError{name_, line, found, expected};
    }
    std::string declared_entries() const;

    MatrixMarketHeader header_;
    Layout layout_;
    std::string name_;
};

/// Reads the entries of a body, piece by piece.
///
/// `T` is `float`, `double` or `NoValue`. Values that are not kept are read as `double`, so that a
/// structure is refused where its matrix would be.
template <class T, class I>
class Body
{
public:
    /// What values are read as.
    using Number = std::conditional_t<std::is_empty_v<T>, double, T>;
    /// Where they go.
    using Entries = Array<Entry<T, I>>;

    /// The body below `header` in the file `name`.
    Body(MatrixMarketHeader const& header, std::string const& name)
        : errors_{header, name}, layout_{errors_.layout()}, rows_{header.rows},
          columns_{header.columns}, symmetry_{header.symmetry}, is_array_{header.format ==
                                                                          MatrixMarketFormat::array}
    {
    }

    /// Reads a piece of the body that goes on at `progress`; returns where it ends. Entries are
    /// appended, each followed by its mirror image where there is one. Throws `MatrixMarketError`.
    Progress<Number> read(std::string_view text, Progress<Number> progress, Entries& entries) const
    {
        Cursor cursor{text, progress.line};
        auto& [ordinal, line, entry] = progress;
        auto position = is_array_ ? array_position(errors_.header(), ordinal) : Position{};
        while (cursor.find_data()) {
            if (entry.numbers == 0) {
                begin_entry(cursor, progress);
            }
            read_numbers(cursor, entry);
            if (entry.numbers < layout_.size()) {
                continue;
            }
            if (!cursor.at_line_end()) {
                errors_.unfinished_line(cursor, entry.line);
            }
            if (is_array_) {
                entry.position = position;
                position = array_successor(errors_.header(), position);
            }
            keep(entry, entries);
            entry.numbers = 0;
            ++ordinal;
        }
        line = cursor.line();
        return progress;
    }

    /// Throws `MatrixMarketError` if the body must not end here.
    void expect_end(Progress<Number> const& progress) const
    {
        if (progress.entry.numbers > 0) {
            errors_.broken_entry(progress.entry.line, progress.entry.numbers);
        }
        if (progress.ordinal < errors_.header().entries) {
            errors_.missing_entries(progress.line, progress.ordinal);
        }
    }

private:
    void begin_entry(Cursor const& cursor, Progress<Number>& progress) const
    {
        if (progress.ordinal >= errors_.header().entries) {
            errors_.superfluous_entry(cursor);
        }
        progress.entry = {};
        progress.entry.line = cursor.line();
    }

    void read_numbers(Cursor& cursor, PartialEntry<Number>& entry) const
    {
        do {
            read_number(cursor, layout_[entry.numbers++], entry);
            cursor.skip_blanks();
        } while (entry.numbers < layout_.size() && !cursor.at_line_end());
    }

    void read_number(Cursor& cursor, Part part, PartialEntry<Number>& entry) const
    {
        switch (part) {
        case Part::row:
            entry.position.row = read_index(cursor, part, rows_);
            break;
        case Part::column:
            entry.position.column = read_index(cursor, part, columns_);
            break;
        case Part::integer:
        case Part::real:
            entry.real = read_value(cursor, part, entry);
            break;
        case Part::imaginary:
            entry.imaginary = read_value(cursor, part, entry);
            break;
        }
    }

    std::int64_t read_index(Cursor& cursor, Part part, std::int64_t limit) const
    {
        auto const here = cursor;
        auto const index = cursor.integer();
        if (!index || *index < 1 || *index > limit) {
            errors_.bad_number(here, part, false);
        }
        return *index - 1;
    }

    Number read_value(Cursor& cursor, Part part, PartialEntry<Number>& entry) const
    {
        auto const here = cursor;
        std::optional<Number> value;
        if (part != Part::integer) {
            value = cursor.template real<Number>();
        } else if (auto const integer = cursor.integer()) {
            value = static_cast<Number>(*integer);
        }
        if (!value) {
            errors_.bad_number(here, part, std::is_same_v<Number, float>);
        }
        if (is_array_) {
            entry.is_zero = entry.is_zero && *value == 0 && is_written_as_zero(here.token());
        }
        return *value;
    }

    void keep(PartialEntry<Number> const& entry, Entries& entries) const
    {
        auto const row = static_cast<I>(entry.position.row);
        auto const column = static_cast<I>(entry.position.column);
        if (row == column) {
            check_diagonal(entry);
        }
        if (is_array_ && entry.is_zero) {
            return;
        }
        entries.push_back({row, column, value(entry.real)});
        if (symmetry_ != MatrixMarketSymmetry::general && row != column) {
            auto const skew = symmetry_ == MatrixMarketSymmetry::skew_symmetric;
            entries.push_back({column, row, value(skew ? -entry.real : entry.real)});
        }
    }

    static T value([[maybe_unused]] Number number)
    {
        if constexpr (std::is_empty_v<T>) {
            return {};
        } else {
            return number;
        }
    }

    void check_diagonal(PartialEntry<Number> const& entry) const
    {
        auto const skew = symmetry_ == MatrixMarketSymmetry::skew_symmetric;
        auto const hermitian = symmetry_ == MatrixMarketSymmetry::hermitian;
        // Negated comparisons: NaN is not zero either.
        if ((skew && !(entry.real == 0)) || ((skew || hermitian) && !(entry.imaginary == 0))) {
            errors_.bad_diagonal(entry.line, entry.real, entry.imaginary);
        }
    }

    BodyErrors errors_;
    Layout layout_;
    std::int64_t rows_;
    std::int64_t columns_;
    MatrixMarketSymmetry symmetry_;
    bool is_array_;
};

} // namespace sparse::matrix_market
