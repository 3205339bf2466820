#include "sparse/matrix_market.hpp"

#include "sparse/matrix_market_body.hpp"
#include "sparse/matrix_market_header.hpp"
#include "sparse/matrix_market_text.hpp"

#include <fmt/format.h>

#include <exception>
#include <limits>
#include <utility>
#include <vector>

namespace sparse {

namespace matrix_market {

namespace {

/// Refuses what `I` cannot index and rows that the file cannot stand for.
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

/// Reads a body in parallel.
///
/// A block is cut into chunks at line ends. Before a chunk has been read, nobody knows how many
/// entries it has and whether its last line breaks an entry off. So each chunk is read on the guess
/// that every line with data is an entry. Then the chunks are gone through in order; where the
/// guess was wrong, the chunk is read again.
template <class T, class I>
class Reader
{
public:
    Reader(Text& text, std::string const& name, ReadOptions const& options, Opening const& opening)
        : text_{text}, name_{name}, options_{options}, header_{opening.header}, body_{
                                                                                    opening.header,
                                                                                    name}
    {
        progress_.line = opening.line;
        for (auto block = opening.body; !block.empty();) {
            block = read_block(block);
        }
        body_.expect_end(progress_);
    }

    /// The matrix; to be called once.
    Csr<T, I> matrix()
    {
        std::size_t total = 0;
        for (auto const& part : parts_) {
            total += part.size();
        }
        constexpr std::size_t most = std::numeric_limits<I>::max();
        if (total > most) {
            throw MatrixMarketError{
                name_, header_.size_line, fmt::format("{} nonzeros after mirroring", total),
                fmt::format("at most {} with {}-bit indices", most, 8 * sizeof(I))};
        }
        Assembly<T, I> assembly{static_cast<I>(header_.rows), static_cast<I>(header_.columns)};
        assembly.deal(parts_.size(), total, [&](std::size_t part, auto&& take) {
            for (auto const& e : parts_[part]) {
                take(e.row, e.col, e.value);
            }
        });
        parts_ = {};
        return assembly.finish();
    }

private:
    using Position = Progress<typename Body<T, I>::Number>;
    using Entries = typename Body<T, I>::Entries;

    struct Chunk
    {
        std::string_view text;
        Census census;
        Position begin; ///< as guessed
        Position end;
        Entries entries;
        std::exception_ptr failure;
    };

    /// Reads a block, and the next one from the file at the same time, which is returned.
    std::string_view read_block(std::string_view block)
    {
        auto chunks = cut(block);
        std::string_view next;
        std::exception_ptr failure;
        parallel_for(chunks.size() + 1, [&](std::size_t k) {
            if (k > 0) {
                read_chunk(chunks[k - 1], chunks[k - 1].begin);
                return;
            }
            try {
                next = text_.next();
            } catch (...) {
                failure = std::current_exception();
            }
        });
        for (auto& chunk : chunks) {
            settle(chunk);
        }
        if (failure) {
            std::rethrow_exception(failure);
        }
        return next;
    }

    std::vector<Chunk> cut(std::string_view block) const
    {
        auto const pieces = split_lines(block, std::max<std::size_t>(options_.chunk_bytes, 1));
        std::vector<Chunk> chunks(pieces.size());
        parallel_for(chunks.size(), [&](std::size_t k) {
            chunks[k].text = pieces[k];
            chunks[k].census = census(pieces[k]);
        });
        auto begin = progress_;
        for (auto& chunk : chunks) {
            chunk.begin = begin;
            begin.entry = {};
            begin.line += chunk.census.lines;
            begin.ordinal += static_cast<std::int64_t>(chunk.census.data);
        }
        return chunks;
    }

    void read_chunk(Chunk& chunk, Position const& begin) const
    {
        auto const mirrored = header_.symmetry != MatrixMarketSymmetry::general;
        auto const missing = std::max<std::int64_t>(header_.entries - begin.ordinal, 0);
        auto const guess = std::min(static_cast<std::int64_t>(chunk.census.data), missing);
        chunk.failure = nullptr;
        try {
            chunk.entries.clear();
            chunk.entries.reserve(static_cast<std::size_t>(guess) * (mirrored ? 2 : 1));
            chunk.end = body_.read(chunk.text, begin, chunk.entries);
        } catch (...) {
            chunk.failure = std::current_exception();
        }
        // Lines that turned out to be no entries must not hold memory.
        if (chunk.failure || chunk.entries.size() < chunk.entries.capacity() / 2) {
            chunk.entries.shrink_to_fit();
        }
    }

    void settle(Chunk& chunk)
    {
        auto const guessed_right = chunk.begin.ordinal == progress_.ordinal &&
                                   chunk.begin.entry.numbers == progress_.entry.numbers;
        if (!guessed_right) {
            read_chunk(chunk, progress_);
        }
        if (chunk.failure) {
            std::rethrow_exception(chunk.failure);
        }
        progress_ = chunk.end;
        if (!chunk.entries.empty()) {
            parts_.push_back(std::move(chunk.entries));
        }
    }

    Text& text_;
    std::string const& name_;
    ReadOptions const& options_;
    MatrixMarketHeader header_;
    Body<T, I> body_;
    Position progress_;
    std::vector<Entries> parts_;
};

template <class T, class I>
Csr<T, I> read(Text& text, std::string const& name, ReadOptions const& options)
{
    auto const opening = read_opening(text, name);
    auto const is_complex = opening.header.field == MatrixMarketField::complex;
    if (is_complex && !std::is_empty_v<T> && !options.complex_real_part) {
        throw MatrixMarketError{
            name, 1, "a complex matrix",
            "a real, integer or pattern one, since the real part was not asked for"};
    }
    check_sizes<I>(opening.header, name, options);
    return Reader<T, I>{text, name, options, opening}.matrix();
}

template <class I>
Pattern<I> read_pattern(Text& text, std::string const& name, ReadOptions const& options)
{
    auto matrix = read<NoValue, I>(text, name, options);
    return {matrix.rows, matrix.columns, std::move(matrix.row_ptr), std::move(matrix.col)};
}

} // namespace

} // namespace matrix_market

MatrixMarketError::MatrixMarketError(std::string const& name, std::string const& problem)
    : std::runtime_error{fmt::format("{}: {}", name, problem)}
{
}

MatrixMarketError::MatrixMarketError(std::string const& name, std::size_t line,
                                     std::string const& found, std::string const& expected)
    : std::runtime_error{fmt::format("{}:{}: found {}, expected {}", name, line, found, expected)}
{
}

template <class T, class I>
Csr<T, I> read_matrix_market(std::filesystem::path const& file, ReadOptions const& options)
{
    return matrix_market::read<T, I>(*matrix_market::open_text(file), file.string(), options);
}

template <class I>
Pattern<I> read_matrix_market_pattern(std::filesystem::path const& file, ReadOptions const& options)
{
    return matrix_market::read_pattern<I>(*matrix_market::open_text(file), file.string(), options);
}

MatrixMarketHeader read_matrix_market_header(std::filesystem::path const& file)
{
    return matrix_market::read_opening(*matrix_market::open_text(file), file.string()).header;
}

template <class T, class I>
Csr<T, I> parse_matrix_market(std::string_view bytes, std::string const& name,
                              ReadOptions const& options)
{
    return matrix_market::read<T, I>(*matrix_market::text_in(bytes, name), name, options);
}

template <class I>
Pattern<I> parse_matrix_market_pattern(std::string_view bytes, std::string const& name,
                                       ReadOptions const& options)
{
    return matrix_market::read_pattern<I>(*matrix_market::text_in(bytes, name), name, options);
}

using std::filesystem::path;

template Csr<float, std::int32_t> read_matrix_market(path const&, ReadOptions const&);
template Csr<double, std::int32_t> read_matrix_market(path const&, ReadOptions const&);
template Csr<float, std::int64_t> read_matrix_market(path const&, ReadOptions const&);
template Csr<double, std::int64_t> read_matrix_market(path const&, ReadOptions const&);
template Pattern<std::int32_t> read_matrix_market_pattern(path const&, ReadOptions const&);
template Pattern<std::int64_t> read_matrix_market_pattern(path const&, ReadOptions const&);

template Csr<float, std::int32_t> parse_matrix_market(std::string_view, std::string const&,
                                                      ReadOptions const&);
template Csr<double, std::int32_t> parse_matrix_market(std::string_view, std::string const&,
                                                       ReadOptions const&);
template Csr<float, std::int64_t> parse_matrix_market(std::string_view, std::string const&,
                                                      ReadOptions const&);
template Csr<double, std::int64_t> parse_matrix_market(std::string_view, std::string const&,
                                                       ReadOptions const&);
template Pattern<std::int32_t> parse_matrix_market_pattern(std::string_view, std::string const&,
                                                           ReadOptions const&);
template Pattern<std::int64_t> parse_matrix_market_pattern(std::string_view, std::string const&,
                                                           ReadOptions const&);

} // namespace sparse
