#include "base/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

namespace base {

namespace {

struct Close
{
    void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void fail(std::string const& place)
{
    throw std::system_error{errno, std::generic_category(), place + ": cannot be written"};
}

/// Whether all of the text has left this program.
bool writes(std::FILE* file, std::string_view text)
{
    // Beyond a limit a write shall fail, as it does on a full disk, and not end the program.
    static auto const ignored = std::signal(SIGXFSZ, SIG_IGN);
    static_cast<void>(ignored);
    return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

void write_through(std::filesystem::path const& path, std::string_view text, char const* mode)
{
    std::unique_ptr<std::FILE, Close> file{std::fopen(path.c_str(), mode)};
    if (!file || !writes(file.get(), text) || fsync(fileno(file.get())) != 0 ||
        std::fclose(file.release()) != 0) {
        fail(path.string());
    }
}

} // namespace

void print(std::string_view text)
{
    if (writes(stdout, text)) {
        return;
    }
    if (errno == EPIPE) { // somebody has this signal ignored
        std::signal(SIGPIPE, SIG_DFL);
        std::raise(SIGPIPE);
    }
    fail("standard output");
}

void require_replaceable(std::filesystem::path const& file)
{
    auto const found = std::filesystem::status(file);
    if (std::filesystem::exists(found) && !std::filesystem::is_regular_file(found)) {
        throw std::invalid_argument{
            file.string() + ": found " +
            (std::filesystem::is_directory(found) ? "a folder" : "a device") +
            ", expected the name of a file"};
    }
}

void write_whole(std::filesystem::path const& file, std::string_view text)
{
    require_replaceable(file);
    auto part = file;
    part += ".part";
    try {
        write_through(part, text, "w");
        if (std::rename(part.c_str(), file.c_str()) != 0) {
            fail(file.string());
        }
    } catch (...) {
        static_cast<void>(std::remove(part.c_str()));
        throw;
    }
}

void append(std::filesystem::path const& file, std::string_view text)
{
    write_through(file, text, "a");
}

} // namespace base
