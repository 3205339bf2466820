#include "sparse/convert.hpp"
#include "sparse/io/matrix_market.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <variant>

namespace {

using Matrix = sparse::Csr<double>;

/// Far below the default, so that memory goes to what the text holds.
constexpr std::int64_t max_empty_rows = 1 << 16;

void require(bool condition)
{
    if (!condition) {
        std::abort();
    }
}

/// The matrix or the error.
std::variant<Matrix, std::string> read(std::string_view text, std::size_t chunk_bytes)
{
    sparse::ReadOptions const options{
        .complex_real_part = true, .max_empty_rows = max_empty_rows, .chunk_bytes = chunk_bytes};
    try {
        return sparse::parse_matrix_market<double>(text, "x", options);
    } catch (sparse::MatrixMarketError const& error) {
        return error.what();
    }
}

bool same_value(double a, double b)
{
    return a == b || (std::isnan(a) && std::isnan(b));
}

void require_same(Matrix const& a, Matrix const& b)
{
    require(a.rows == b.rows && a.columns == b.columns);
    require(a.row_ptr == b.row_ptr && a.col == b.col && a.values.size() == b.values.size());
    for (std::size_t p = 0; p < a.values.size(); ++p) {
        require(same_value(a.values[p], b.values[p]));
    }
}

void require_sorted(Matrix const& a)
{
    for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row) {
        require(a.row_ptr[row] <= a.row_ptr[row + 1]);
        auto const end = static_cast<std::size_t>(a.row_ptr[row + 1]);
        for (auto p = static_cast<std::size_t>(a.row_ptr[row]); p < end; ++p) {
            require(a.col[p] >= 0 && a.col[p] < a.columns);
            require(p == static_cast<std::size_t>(a.row_ptr[row]) || a.col[p - 1] < a.col[p]);
        }
    }
}

} // namespace

/// Whatever the bytes are, they are a sound matrix that survives writing and reading, or an error
/// of one line; the cut into chunks makes no difference.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
    std::string_view const text{reinterpret_cast<char const*>(data), size};
    auto const whole = read(text, std::size_t{1} << 20);
    auto const pieces = read(text, 5 + size / 32);
    require(whole.index() == pieces.index());
    if (auto const* const error = std::get_if<std::string>(&whole)) {
        require(*error == std::get<std::string>(pieces));
        require(error->starts_with("x:") && error->find('\n') == error->npos);
        return 0;
    }
    auto const& matrix = std::get<Matrix>(whole);
    require_same(matrix, std::get<Matrix>(pieces));
    require_sorted(matrix);
    auto const structure =
        sparse::parse_matrix_market_pattern(text, "x", {.max_empty_rows = max_empty_rows});
    require(structure.col == matrix.col && structure.row_ptr == matrix.row_ptr);
    std::ostringstream written;
    sparse::write_matrix_market(written, matrix.view());
    // What is written has no duplicates, so more rows may be empty for each entry.
    auto const again =
        sparse::parse_matrix_market<double>(written.view(), "y", {.max_empty_rows = matrix.rows});
    require_same(matrix, again);
    return 0;
}
