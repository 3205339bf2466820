#include "sparse/io/matrix_market.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <charconv>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>

namespace sparse {

namespace {

using Sink = std::function<void(std::string_view)>;

/// Collects text and hands it on in large pieces.
class Buffer
{
public:
    explicit Buffer(Sink sink) : sink_{std::move(sink)} {}

    void add(std::string_view text)
    {
        text_ += text;
        if (text_.size() >= most) {
            flush();
        }
    }

    template <class Number>
    void add_number(Number number)
    {
        char digits[32];
        auto const end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
        add({digits, end});
    }

    void flush()
    {
        sink_(text_);
        text_.clear();
    }

private:
    static constexpr std::size_t most = 1 << 18;
    Sink sink_;
    std::string text_;
};

template <class I, class AddValue>
void write_entries(Sink const& sink, std::string_view field, PatternView<I> const& a,
                   AddValue const& add_value)
{
    Buffer buffer{sink};
    buffer.add(fmt::format("%%MatrixMarket matrix coordinate {} general\n{} {} {}\n", field, a.rows,
                           a.columns, a.nonzeros()));
    for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row) {
        auto const end = static_cast<std::size_t>(a.row_ptr[row + 1]);
        for (auto p = static_cast<std::size_t>(a.row_ptr[row]); p < end; ++p) {
            buffer.add_number(row + 1);
            buffer.add(" ");
            buffer.add_number(static_cast<std::size_t>(a.col[p]) + 1);
            add_value(buffer, p);
            buffer.add("\n");
        }
    }
    buffer.flush();
}

template <class T, class I>
void write(Sink const& sink, CsrView<T, I> const& a)
{
    write_entries(sink, "real", PatternView<I>{a}, [&](Buffer& buffer, std::size_t p) {
        buffer.add(" ");
        buffer.add_number(a.values[p]);
    });
}

template <class I>
void write(Sink const& sink, PatternView<I> const& a)
{
    write_entries(sink, "pattern", a, [](Buffer&, std::size_t) {});
}

/// A file under a temporary name, which takes the place of `file` on commit and otherwise vanishes.
class Replacement
{
public:
    explicit Replacement(std::filesystem::path const& file)
        : file_{file}, temporary_{fmt::format("{}.{}.partial", file.string(), ::getpid())}
    {
        // zlib's mode x refuses to open what exists; T writes as is, without compression.
        auto const* const mode = file.extension() == ".gz" ? "wbx" : "wbxT";
        stream_ = gzopen(temporary_.c_str(), mode);
        if (stream_ == nullptr) {
            fail();
        }
    }
    ~Replacement()
    {
        if (stream_ != nullptr) {
            gzclose(stream_);
        }
        if (!committed_) {
            std::error_code ignored;
            std::filesystem::remove(temporary_, ignored);
        }
    }
    Replacement(Replacement const&) = delete;
    Replacement& operator=(Replacement const&) = delete;

    /// At most 4 GiB at a time.
    void write(std::string_view text)
    {
        auto const size = static_cast<unsigned>(text.size());
        if (gzwrite(stream_, text.data(), size) != static_cast<int>(size)) {
            fail();
        }
    }

    void commit()
    {
        if (gzclose(std::exchange(stream_, nullptr)) != Z_OK) {
            fail();
        }
        std::error_code error;
        std::filesystem::rename(temporary_, file_, error);
        if (error) {
            throw MatrixMarketError{file_.string(), "cannot be written: " + error.message()};
        }
        committed_ = true;
    }

private:
    [[noreturn]] void fail() const
    {
        auto const reason = std::generic_category().message(errno);
        throw MatrixMarketError{file_.string(), "cannot be written: " + reason};
    }

    std::filesystem::path file_;
    std::filesystem::path temporary_;
    gzFile stream_ = nullptr;
    bool committed_ = false;
};

Sink to(std::ostream& out)
{
    return [&out](std::string_view text) {
        out.write(text.data(), static_cast<std::streamsize>(text.size()));
    };
}

template <class View>
void write_file(std::filesystem::path const& file, View const& a)
{
    Replacement replacement{file};
    write([&](std::string_view text) { replacement.write(text); }, a);
    replacement.commit();
}

} // namespace

template <class T, class I>
void write_matrix_market(std::ostream& out, CsrView<T, I> const& a)
{
    write(to(out), a);
}

template <class I>
void write_matrix_market(std::ostream& out, PatternView<I> const& a)
{
    write(to(out), a);
}

template <class T, class I>
void write_matrix_market(std::filesystem::path const& file, CsrView<T, I> const& a)
{
    write_file(file, a);
}

template <class I>
void write_matrix_market(std::filesystem::path const& file, PatternView<I> const& a)
{
    write_file(file, a);
}

using std::filesystem::path;

template void write_matrix_market(std::ostream&, CsrView<float, std::int32_t> const&);
template void write_matrix_market(std::ostream&, CsrView<double, std::int32_t> const&);
template void write_matrix_market(std::ostream&, CsrView<float, std::int64_t> const&);
template void write_matrix_market(std::ostream&, CsrView<double, std::int64_t> const&);
template void write_matrix_market(std::ostream&, PatternView<std::int32_t> const&);
template void write_matrix_market(std::ostream&, PatternView<std::int64_t> const&);
template void write_matrix_market(path const&, CsrView<float, std::int32_t> const&);
template void write_matrix_market(path const&, CsrView<double, std::int32_t> const&);
template void write_matrix_market(path const&, CsrView<float, std::int64_t> const&);
template void write_matrix_market(path const&, CsrView<double, std::int64_t> const&);
template void write_matrix_market(path const&, PatternView<std::int32_t> const&);
template void write_matrix_market(path const&, PatternView<std::int64_t> const&);

} // namespace sparse
