#pragma once

#include "sparse/csr.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>

/// \file
/// Matrix Market files (https://math.nist.gov/MatrixMarket/formats.html) to CSR and back.
///
/// What is read: `coordinate` and `array`; `real`, `integer`, `complex`, `pattern`; `general`,
/// `symmetric`, `skew-symmetric`, `hermitian`; in any case of letters; plain or gzip. Where the
/// format leaves a choice, or files in the wild depart from it, this is done:
///
/// - **Lines** end in LF, CRLF or CR, the last one need not end; a UTF-8 byte order mark is
/// skipped.
///   Blank lines and lines whose first visible character is `%` may stand anywhere after the
///   banner, and may have any length (in gzip data up to 4 MiB).
/// - **Entries**: an entry may go over several lines, but begins on a line of its own and ends its
///   line. So a missing value is found where it is missing, and a superfluous one is an error.
/// - **Numbers**: indices and sizes are decimal integers; a leading `+` is allowed everywhere.
///   Integer values must be integers within 64 bits and are rounded to `T`. Real values may have a
///   Fortran exponent (`1.5D+02`); `inf` and `nan` are read as such; a number too small for `T`
///   becomes a zero or a subnormal, one too large is an error. The locale plays no role.
/// - **Pattern** entries have the value 1. `pattern` is legal with `coordinate` and `general` or
///   `symmetric` only, `hermitian` with `complex` only.
/// - **Complex** matrices have no real values: reading them is an error unless the real part is
///   asked for. Their structure can be read.
/// - **Symmetries**: each entry off the diagonal is mirrored (negated if skew-symmetric), whichever
///   triangle it stands in; a file that stores both triangles thus gets both added. The matrix must
///   be square. A skew-symmetric diagonal and the imaginary part of a hermitian one must be zero.
/// - **Duplicates** are summed in order of appearance.
/// - **Zeros** of coordinate files are kept, also where duplicates cancel: they are part of the
///   structure. Zeros of array files are not stored, since there every position is written.
/// - **Sizes**: 0 rows or columns are fine. The declared number of entries must be that of the file
///   and at most rows times columns. Rows, columns and nonzeros must fit the index type.
/// - **Memory** grows with the entries found, never with the number declared. Only the row pointer
///   follows the header, therefore `ReadOptions::max_empty_rows`. Where it is short, the error says
///   what the matrix takes.
/// - **gzip** files end in `.gz`, and no others: a name that lies about the content is an error.
///   Several members one after another are one text; zeros may follow.

namespace sparse {

/// A file that cannot be read or written; `what()` is one line: file, line, what was found and what
/// was expected.
class MatrixMarketError : public std::runtime_error
{
public:
    /// "name: problem", for a file that cannot be opened, mapped or written.
    MatrixMarketError(std::string const& name, std::string const& problem);

    /// "name:line: found ..., expected ...".
    MatrixMarketError(std::string const& name, std::size_t line, std::string const& found,
                      std::string const& expected);
};

/// Choices of the reader.
struct ReadOptions
{
    /// Take the real part of a complex matrix instead of refusing it.
    bool complex_real_part = false;

    /// How many more rows than entries a file may declare: with it, a file of some bytes cannot ask
    /// for more than 64 (32-bit indices) or 128 MiB.
    std::int64_t max_empty_rows = std::int64_t{1} << 24;

    /// Text a thread parses at a time, in bytes. The result does not depend on it.
    std::size_t chunk_bytes = std::size_t{1} << 19;
};

/// How entries are laid out in a file.
enum class MatrixMarketFormat
{
    coordinate,
    array
};
/// What an entry's value is.
enum class MatrixMarketField
{
    real,
    integer,
    complex,
    pattern
};
/// Which entries stand for two.
enum class MatrixMarketSymmetry
{
    general,
    symmetric,
    skew_symmetric,
    hermitian
};

/// The banner and the size line.
struct MatrixMarketHeader
{
    MatrixMarketFormat format = MatrixMarketFormat::coordinate;    ///< as in the banner
    MatrixMarketField field = MatrixMarketField::real;             ///< as in the banner
    MatrixMarketSymmetry symmetry = MatrixMarketSymmetry::general; ///< as in the banner
    std::int64_t rows = 0;                                         ///< of the matrix
    std::int64_t columns = 0;                                      ///< of the matrix
    std::int64_t entries = 0;  ///< entries in the file: before mirroring and summing duplicates
    std::size_t size_line = 0; ///< number of the line that declares the sizes

    /// "coordinate real symmetric"
    std::string kind() const;
};

/// Reads a matrix. `T` is `float` or `double`, `I` `std::int32_t` or `std::int64_t`. Throws
/// `MatrixMarketError`.
template <class T, class I = std::int32_t>
Csr<T, I> read_matrix_market(std::filesystem::path const& file, ReadOptions const& options = {});

/// Reads a structure. Values are checked and dropped; complex matrices are welcome. Throws
/// `MatrixMarketError`.
template <class I = std::int32_t>
Pattern<I> read_matrix_market_pattern(std::filesystem::path const& file,
                                      ReadOptions const& options = {});

/// Reads banner and size line only. Throws `MatrixMarketError`.
MatrixMarketHeader read_matrix_market_header(std::filesystem::path const& file);

/// Reads a matrix from memory, plain or gzip; errors call it `name`. Throws `MatrixMarketError`.
template <class T, class I = std::int32_t>
Csr<T, I> parse_matrix_market(std::string_view bytes, std::string const& name,
                              ReadOptions const& options = {});

/// Reads a structure from memory, plain or gzip; errors call it `name`. Throws `MatrixMarketError`.
template <class I = std::int32_t>
Pattern<I> parse_matrix_market_pattern(std::string_view bytes, std::string const& name,
                                       ReadOptions const& options = {});

/// Writes `coordinate real general`, row by row, each value in the shortest form that reads back as
/// the same `T`. The state of `out` tells about success.
template <class T, class I>
void write_matrix_market(std::ostream& out, CsrView<T, I> const& a);

/// Writes `coordinate pattern general`, row by row. The state of `out` tells about success.
template <class I>
void write_matrix_market(std::ostream& out, PatternView<I> const& a);

/// As above to a file, through gzip if its name ends in `.gz`. The file is written under another
/// name and moved into place, so an existing one is replaced as a whole or not at all. Throws
/// `MatrixMarketError`.
template <class T, class I>
void write_matrix_market(std::filesystem::path const& file, CsrView<T, I> const& a);

/// The same for a structure.
template <class I>
void write_matrix_market(std::filesystem::path const& file, PatternView<I> const& a);

} // namespace sparse
