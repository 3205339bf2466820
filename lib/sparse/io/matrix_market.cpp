#include "sparse/io/matrix_market.hpp"

#include "sparse/io/matrix_market_body.hpp"
#include "sparse/io/matrix_market_header.hpp"
#include "sparse/io/matrix_market_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

namespace sparse {

namespace matrix_market {

namespace {

/// Reads a body in parallel.
///
/// A block is cut into chunks at line ends. What precedes a chunk is not known before it has been
/// read, so each chunk is first read on a guess: that it begins with an entry of its own, in an
/// array that all lines before it are entries, and that nothing is wrong. Then the chunks are gone
/// through in order; where the guess was wrong, the chunk is read again. Errors come from there.
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
        expect_undamaged(text, name, progress_.line);
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
        Position begin; ///< as guessed, but lines count from 0
        Position end;
        Entries entries;
        bool failed = false;
    };

    bool is_array() const { return header_.format == MatrixMarketFormat::array; }

    /// Reads a block, and the next one from the file at the same time, which is returned.
    std::string_view read_block(std::string_view block)
    {
        auto chunks = cut(block);
        std::string_view next;
        parallel_for(chunks.size() + 1, [&](std::size_t k) {
            if (k == 0) {
                next = text_.next();
            } else {
                try_chunk(chunks[k - 1]);
            }
        });
        for (auto& chunk : chunks) {
            settle(chunk);
        }
        return next;
    }

    std::vector<Chunk> cut(std::string_view block) const
    {
        auto const pieces = split_lines(block, std::max<std::size_t>(options_.chunk_bytes, 1));
        std::vector<Chunk> chunks(pieces.size());
        parallel_for(is_array() ? chunks.size() : 0, [&](std::size_t k) {
            chunks[k].begin.ordinal = static_cast<std::int64_t>(lines_with_data(pieces[k]));
        });
        auto ordinal = progress_.ordinal;
        for (std::size_t k = 0; k < chunks.size(); ++k) {
            chunks[k].text = pieces[k];
            chunks[k].begin.line = 0;
            ordinal += std::exchange(chunks[k].begin.ordinal, ordinal);
        }
        return chunks;
    }

    void try_chunk(Chunk& chunk) const
    {
        try {
            chunk.end = read_chunk(chunk, chunk.begin);
        } catch (...) {
            chunk.entries = {};
            chunk.failed = true;
        }
    }

    Position read_chunk(Chunk& chunk, Position const& begin) const
    {
        auto const mirrored = header_.symmetry != MatrixMarketSymmetry::general;
        auto const lines = std::count(chunk.text.begin(), chunk.text.end(), '\n') + 1;
        auto const guess = static_cast<std::size_t>(std::min<std::int64_t>(lines, header_.entries));
        chunk.entries.clear();
        chunk.entries.reserve(mirrored ? 2 * guess : guess);
        auto const end = body_.read(chunk.text, begin, chunk.entries);
        // Lines that turned out to be no entries must not hold memory.
        if (chunk.entries.size() < chunk.entries.capacity() / 2) {
            chunk.entries.shrink_to_fit();
        }
        return end;
    }

    /// Goes on behind a chunk, for which the guess must hold or the chunk is read again.
    void settle(Chunk& chunk)
    {
        auto const entries = chunk.end.ordinal - chunk.begin.ordinal;
        auto const begun = entries + (chunk.end.entry.numbers > 0 ? 1 : 0);
        if (!chunk.failed && progress_.entry.numbers == 0 &&
            progress_.ordinal + begun <= header_.entries &&
            (!is_array() || chunk.begin.ordinal == progress_.ordinal)) {
            progress_.ordinal += entries;
            progress_.entry = chunk.end.entry;
            progress_.entry.line += progress_.line;
            progress_.line += chunk.end.line;
        } else {
            progress_ = read_chunk(chunk, progress_);
        }
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

/// What it takes to read the matrix: its entries as they come and once more as they are sorted.
template <class T, class I>
MatrixMarketError short_memory(std::string const& name, MatrixMarketHeader const& header)
{
    std::size_t const images = header.symmetry == MatrixMarketSymmetry::general ? 1 : 2;
    std::size_t const of_entry = 2 * images * sizeof(Entry<T, I>);
    auto const bytes = static_cast<double>(of_entry) * static_cast<double>(header.entries) +
                       static_cast<double>(sizeof(I)) * static_cast<double>(header.rows);
    return {name, header.size_line,
            fmt::format("{} entries and {} rows", header.entries, header.rows),
            fmt::format("enough memory: {:.0f} bytes for them while they are read, {} for each "
                        "entry and {} for each row",
                        bytes, of_entry, sizeof(I))};
}

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
    try {
        return Reader<T, I>{text, name, options, opening}.matrix();
    } catch (std::bad_alloc const&) {
        throw short_memory<T, I>(name, opening.header);
    } catch (std::length_error const&) { // more than an array can have
        throw short_memory<T, I>(name, opening.header);
    }
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
    return matrix_market::read<T, I>(*matrix_market::text_in(bytes), name, options);
}

template <class I>
Pattern<I> parse_matrix_market_pattern(std::string_view bytes, std::string const& name,
                                       ReadOptions const& options)
{
    return matrix_market::read_pattern<I>(*matrix_market::text_in(bytes), name, options);
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
