#pragma once

#include "sparse/io/matrix_market.hpp"
#include "sparse/io/matrix_market_text.hpp"

#include <string>
#include <string_view>

namespace sparse::matrix_market {

/// A header and where the body begins.
struct Opening
{
    MatrixMarketHeader header; ///< checked in itself
    std::string_view body;     ///< what is left of the last block read from the text
    std::size_t line = 1;      ///< number of the first line of `body`
};

/// Reads banner and size line. Throws `MatrixMarketError`.
Opening read_opening(Text& text, std::string const& name);

/// Refuses what `I` cannot index and rows that the file cannot stand for; throws
/// `MatrixMarketError`. `I` is `std::int32_t` or `std::int64_t`.
template <class I>
void check_sizes(MatrixMarketHeader const& header, std::string const& name,
                 ReadOptions const& options);

} // namespace sparse::matrix_market
