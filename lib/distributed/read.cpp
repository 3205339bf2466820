#include "distributed/read.hpp"

#include "sparse/assemble.hpp"
#include "sparse/io/matrix_market_body.hpp"
#include "sparse/io/matrix_market_header.hpp"
#include "sparse/io/matrix_market_text.hpp"

#include <algorithm>
#include <exception>
#include <numeric>
#include <optional>
#include <stdexcept>

namespace distributed {

namespace {

namespace market = sparse::matrix_market;
using std::filesystem::path;

template <class T>
using Entries = typename market::Body<T, std::int64_t>::Entries;

/// What one rank found in its share of a file.
template <class T>
struct Scanned
{
    sparse::MatrixMarketHeader header;
    std::int64_t lines = 0; ///< entries in the file, before mirroring
    Entries<T> entries;
};

/// The lines that begin in part `part` of `parts` equal shares of the bytes.
std::string_view share_of(std::string_view text, std::size_t part, std::size_t parts)
{
    auto const begin_of = [text](std::size_t byte) {
        auto const line_feed = byte == 0 ? text.npos : text.find('\n', byte - 1);
        return byte == 0 ? 0 : line_feed == text.npos ? text.size() : line_feed + 1;
    };
    auto const begin = begin_of(text.size() / parts * part);
    auto const end = part + 1 == parts ? text.size() : begin_of(text.size() / parts * (part + 1));
    return text.substr(begin, end - begin);
}

bool can_be_shared(sparse::MatrixMarketHeader const& header, path const& file)
{
    return header.format == sparse::MatrixMarketFormat::coordinate &&
           header.field != sparse::MatrixMarketField::complex && file.extension() != ".gz";
}

/// Scans this rank's share on the guess that every entry begins on a line of its own and ends
/// there.
template <class T>
std::optional<Scanned<T>> scan_share(mpi::Communicator const& communicator, path const& file)
try {
    auto const text = market::open_text(file);
    auto const opening = market::read_opening(*text, file.string());
    if (!can_be_shared(opening.header, file)) {
        return {};
    }
    market::check_sizes<std::int64_t>(opening.header, file.string(), {});
    market::Body<T, std::int64_t> const body{opening.header, file.string()};
    Scanned<T> scanned{opening.header, 0, {}};
    auto const share = share_of(opening.body, static_cast<std::size_t>(communicator.rank()),
                                static_cast<std::size_t>(communicator.size()));
    auto const end = body.read(share, {}, scanned.entries);
    scanned.lines = end.ordinal;
    return end.entry.numbers == 0 ? std::optional{std::move(scanned)} : std::nullopt;
} catch (sparse::MatrixMarketError const&) {
    return {}; // rank 0 finds the line
}

/// Entries by the rank that owns their rows, in order of appearance.
template <class T>
class Outbox
{
public:
    Outbox(Entries<T> entries, Partition const& rows)
        : counts(static_cast<std::size_t>(rows.ranks()), 0), row(entries.size()),
          column(entries.size()), value(entries.size())
    {
        std::vector<int> owner;
        owner.reserve(entries.size());
        for (auto const& entry : entries) {
            owner.push_back(rows.owner_of(entry.row));
            ++counts[static_cast<std::size_t>(owner.back())];
        }
        auto next = mpi::displacements(counts);
        for (std::size_t k = 0; k < entries.size(); ++k) {
            auto const at = static_cast<std::size_t>(next[static_cast<std::size_t>(owner[k])]++);
            row[at] = entries[k].row;
            column[at] = entries[k].col;
            value[at] = entries[k].value;
        }
    }

    std::vector<int> counts;
    std::vector<std::int64_t> row;
    std::vector<std::int64_t> column;
    std::vector<T> value;
};

/// Sends entries to the owners of their rows, which sort them.
template <class T>
Rows<T> assemble(mpi::Communicator const& communicator, Scanned<T> scanned)
{
    auto const rows = equal_rows(scanned.header.rows, communicator.size());
    auto const first = rows.begin(communicator.rank());
    std::vector<std::int64_t> row;
    std::vector<std::int64_t> column;
    std::vector<T> value;
    {
        Outbox<T> const out{std::move(scanned.entries), rows};
        auto const incoming = communicator.exchange_counts(out.counts);
        row = communicator.exchange<std::int64_t>(out.row, out.counts, incoming);
        column = communicator.exchange<std::int64_t>(out.column, out.counts, incoming);
        value = communicator.exchange<T>(out.value, out.counts, incoming);
    }
    sparse::Assembly<T, std::int64_t> assembly{rows.size(communicator.rank()),
                                               scanned.header.columns};
    assembly.deal(1, row.size(), [&](std::size_t, auto const& take) {
        for (std::size_t k = 0; k < row.size(); ++k) {
            take(row[k] - first, column[k], value[k]);
        }
    });
    row = {};
    column = {};
    value = {};
    return assembly.finish();
}

/// Throws on all ranks what rank 0 has caught, if it has.
void rethrow_everywhere(mpi::Communicator const& communicator, std::exception_ptr const& caught,
                        std::string text)
{
    std::vector<std::int64_t> size{static_cast<std::int64_t>(text.size())};
    communicator.broadcast<std::int64_t>(size);
    if (size[0] == 0) {
        return;
    }
    text.resize(static_cast<std::size_t>(size[0]));
    communicator.broadcast<char>(text);
    if (caught) {
        std::rethrow_exception(caught);
    }
    throw std::runtime_error{text};
}

} // namespace

//! [root_read]
template <class T>
Rows<T> read_on_root(mpi::Communicator const& communicator, path const& file)
{
    Rows<T> whole;
    std::exception_ptr caught;
    std::string text;
    if (communicator.is_root()) {
        try {
            whole = sparse::read_matrix_market<T, std::int64_t>(file);
        } catch (std::exception const& error) {
            caught = std::current_exception();
            text = error.what();
        }
    }
    rethrow_everywhere(communicator, caught, text);
    std::vector<std::int64_t> rows{whole.rows};
    communicator.broadcast<std::int64_t>(rows);
    return deal_from_root(communicator, whole, equal_rows(rows[0], communicator.size()));
}
//! [root_read]

//! [parallel_read]
template <class T>
Rows<T> read_matrix_market(mpi::Communicator const& communicator, path const& file)
{
    auto scanned = scan_share<T>(communicator, file);
    auto const lines = communicator.sum(scanned ? scanned->lines : std::int64_t{0});
    bool const is_whole = scanned && lines == scanned->header.entries;
    if (!communicator.all(is_whole)) {
        scanned.reset();
        return read_on_root<T>(communicator, file);
    }
    return assemble(communicator, std::move(*scanned));
}
//! [parallel_read]

sparse::RowRange equal_share(mpi::Communicator const& communicator, std::int64_t rows)
{
    auto const shares = equal_rows(rows, communicator.size());
    return {shares.begin(communicator.rank()), shares.end(communicator.rank())};
}

template Rows<float> read_matrix_market(mpi::Communicator const&, path const&);
template Rows<double> read_matrix_market(mpi::Communicator const&, path const&);
template Rows<float> read_on_root(mpi::Communicator const&, path const&);
template Rows<double> read_on_root(mpi::Communicator const&, path const&);

} // namespace distributed
