#include "sparse/io/matrix_market_text.hpp"

#include "sparse/io/matrix_market.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <limits>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace sparse::matrix_market {

namespace {

constexpr std::size_t gzip_block = std::size_t{1} << 22;

bool is_gzip(std::string_view bytes)
{
    return bytes.starts_with("\x1f\x8b");
}

std::string last_error()
{
    return std::generic_category().message(errno);
}

/// All of a text at once.
class PlainText : public Text
{
public:
    explicit PlainText(std::string_view text) : text_{text} {}

    std::string_view next() override { return std::exchange(text_, {}); }

private:
    std::string_view text_;
};

/// zlib's state, which needs an end.
class Inflater
{
public:
    Inflater()
    {
        constexpr int gzip_only = 16;
        if (inflateInit2(&stream_, MAX_WBITS + gzip_only) != Z_OK) {
            throw std::bad_alloc{};
        }
    }
    ~Inflater() { inflateEnd(&stream_); }
    Inflater(Inflater const&) = delete;
    Inflater& operator=(Inflater const&) = delete;

    z_stream* operator->() { return &stream_; }
    z_stream* get() { return &stream_; }

private:
    z_stream stream_{};
};

/// Inflates gzip data, one or more members, into two blocks used in turn.
class GzipText : public Text
{
public:
    explicit GzipText(std::string_view data) : data_{data} {}

    std::string_view next() override
    {
        if (done_ && rest_.empty()) {
            return {};
        }
        auto* const block = other_block();
        std::copy(rest_.begin(), rest_.end(), block);
        auto const size = inflate_into(block, rest_.size());
        auto const lines = cut(std::string_view{block, size});
        rest_ = {block + lines.size(), size - lines.size()};
        if (lines.empty() && !done_) {
            stop({fmt::format("a line of {} bytes or more", gzip_block),
                  "shorter lines in gzip data"});
        }
        return lines;
    }

    std::optional<Damage> damage() const override { return damage_; }

private:
    char* other_block()
    {
        turn_ = 1 - turn_;
        if (!blocks_[turn_]) {
            blocks_[turn_] = std::make_unique_for_overwrite<char[]>(gzip_block);
        }
        return blocks_[turn_].get();
    }

    /// Fills the block from `used` on; returns how much of it is in use then.
    std::size_t inflate_into(char* block, std::size_t used)
    {
        while (used < gzip_block && !done_) {
            constexpr std::size_t most = std::numeric_limits<uInt>::max();
            auto const given = std::min(data_.size(), most);
            stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data_.data()));
            stream_->avail_in = static_cast<uInt>(given);
            stream_->next_out = reinterpret_cast<Bytef*>(block + used);
            stream_->avail_out = static_cast<uInt>(gzip_block - used);
            auto const status = inflate(stream_.get(), Z_NO_FLUSH);
            data_.remove_prefix(given - stream_->avail_in);
            used = gzip_block - stream_->avail_out;
            judge(status);
        }
        return used;
    }

    void judge(int status)
    {
        if (status == Z_STREAM_END) {
            // Zeros pad what once was on a tape.
            data_.remove_prefix(std::min(data_.find_first_not_of('\0'), data_.size()));
            done_ = data_.empty();
            inflateReset(stream_.get());
        } else if (status == Z_OK || status == Z_BUF_ERROR) {
            if (data_.empty() && stream_->avail_out > 0) {
                stop({"gzip data that ends too early", "all of it"});
            }
        } else {
            auto const* const reason = stream_->msg != nullptr ? stream_->msg : "no gzip data";
            stop({fmt::format("damaged gzip data ({})", reason), "sound gzip data"});
        }
    }

    void stop(Damage damage)
    {
        damage_ = std::move(damage);
        done_ = true;
    }

    /// The whole lines of `text`: up to its last line end, or all of it at the end of the data.
    std::string_view cut(std::string_view text) const
    {
        if (done_ && !damage_) {
            return text;
        }
        auto const line_feed = text.rfind('\n');
        if (line_feed != text.npos) {
            return text.substr(0, line_feed + 1);
        }
        // A carriage return at the very end may be half of a CRLF.
        auto const carriage_return = text.substr(0, text.size() - !text.empty()).rfind('\r');
        return text.substr(0, carriage_return + 1);
    }

    std::string_view data_;
    Inflater stream_;
    std::array<std::unique_ptr<char[]>, 2> blocks_;
    std::size_t turn_ = 0;
    std::string_view rest_; ///< the beginning of a line whose end is still to come
    bool done_ = false;
    std::optional<Damage> damage_;
};

/// A regular file in memory.
class Mapping
{
public:
    explicit Mapping(std::string const& name)
    {
        auto const descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (descriptor < 0) {
            throw MatrixMarketError{name, fmt::format("cannot be opened: {}", last_error())};
        }
        auto const problem = map(descriptor);
        ::close(descriptor);
        if (!problem.empty()) {
            throw MatrixMarketError{name, problem};
        }
    }
    ~Mapping()
    {
        if (size_ > 0) {
            ::munmap(data_, size_);
        }
    }
    Mapping(Mapping const&) = delete;
    Mapping& operator=(Mapping const&) = delete;

    std::string_view bytes() const { return {static_cast<char const*>(data_), size_}; }

private:
    /// Returns what went wrong, nothing if nothing did.
    std::string map(int descriptor)
    {
        struct stat status;
        if (::fstat(descriptor, &status) != 0) {
            return fmt::format("cannot be read: {}", last_error());
        }
        if (!S_ISREG(status.st_mode)) {
            return "is not a regular file";
        }
        if (status.st_size == 0) {
            return {};
        }
        auto const size = static_cast<std::size_t>(status.st_size);
        auto* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (data == MAP_FAILED) {
            return fmt::format("its {} bytes cannot be mapped: {}", size, last_error());
        }
        data_ = data;
        size_ = size;
        return {};
    }

    void* data_ = nullptr;
    std::size_t size_ = 0;
};

/// The text of a file, which stays mapped as long.
class FileText : public Text
{
public:
    explicit FileText(std::filesystem::path const& file) : mapping_{file.string()}
    {
        auto const name = file.string();
        auto const gzip = is_gzip(mapping_.bytes());
        if (gzip != (file.extension() == ".gz")) {
            throw MatrixMarketError{name, 1, gzip ? "gzip data" : "no gzip data",
                                    gzip ? "text, since the name does not end in .gz"
                                         : "gzip data, since the name ends in .gz"};
        }
        text_ = text_in(mapping_.bytes());
    }

    std::string_view next() override { return text_->next(); }
    std::optional<Damage> damage() const override { return text_->damage(); }

private:
    Mapping mapping_;
    std::unique_ptr<Text> text_;
};

} // namespace

std::unique_ptr<Text> open_text(std::filesystem::path const& file)
{
    return std::make_unique<FileText>(file);
}

std::unique_ptr<Text> text_in(std::string_view bytes)
{
    if (is_gzip(bytes)) {
        return std::make_unique<GzipText>(bytes);
    }
    return std::make_unique<PlainText>(bytes);
}

void expect_undamaged(Text const& text, std::string const& name, std::size_t line)
{
    if (auto const damage = text.damage()) {
        throw MatrixMarketError{name, line, damage->found, damage->expected};
    }
}

std::vector<std::string_view> split_lines(std::string_view text, std::size_t bytes)
{
    std::vector<std::string_view> pieces;
    while (!text.empty()) {
        auto end = text.find_first_of("\r\n", std::min(bytes, text.size()) - 1);
        end = end == text.npos ? text.size() : end + 1;
        if (text.substr(end - 1, 2) == "\r\n") {
            ++end;
        }
        pieces.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return pieces;
}

} // namespace sparse::matrix_market
