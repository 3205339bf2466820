#include "base/output.hpp"
#include "base/program.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

namespace {

/// A folder that ends with the test.
struct Folder
{
    Folder()
    {
        std::string name = (std::filesystem::temp_directory_path() / "output-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(Folder const&) = delete;
    Folder& operator=(Folder const&) = delete;

    std::size_t files() const
    {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator{path}, {}));
    }

    std::filesystem::path path;
};

std::string text_of(std::filesystem::path const& file)
{
    std::ifstream stream{file};
    return {std::istreambuf_iterator<char>{stream}, {}};
}

/// What a process says on standard error, and its end, that does so with standard output.
struct Ended
{
    int status;
    std::string said;
};

Ended in_a_process(int standard_output, std::function<int()> const& body)
{
    Folder const folder;
    auto const said = folder.path / "said";
    std::fflush(nullptr);
    auto const child = fork();
    if (child == 0) {
        dup2(standard_output, STDOUT_FILENO);
        dup2(open(said.c_str(), O_CREAT | O_WRONLY, 0600), STDERR_FILENO);
        std::signal(SIGPIPE, SIG_DFL);
        _exit(body());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return {status, text_of(said)};
}

int prints(std::size_t bytes)
{
    return base::program("prog", [=] {
        base::print(std::string(bytes, 'x'));
        return 0;
    });
}

/// What `action` says when a file must not grow beyond so many bytes.
std::string error_beyond(rlim_t bytes, std::function<void()> const& action)
{
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit const tight{bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &tight);
    std::string said;
    try {
        action();
    } catch (std::system_error const& error) {
        said = error.what();
    }
    setrlimit(RLIMIT_FSIZE, &before);
    return said;
}

} // namespace

TEST_CASE("an exception becomes one line with its cause")
{
    auto const cause_of = [](auto const& thrown) {
        try {
            throw thrown;
        } catch (...) {
            return base::cause();
        }
    };
    CHECK(cause_of(std::bad_alloc{}) == "not enough memory");
    CHECK(cause_of(std::bad_array_new_length{}) == "not enough memory");
    CHECK(cause_of(std::runtime_error{"two\nlines\x1b[31m"}) == "two lines\\x1b[31m");
    CHECK(cause_of(std::filesystem::filesystem_error{
              "no", "/a/b", std::make_error_code(std::errc::permission_denied)}) ==
          "/a/b: Permission denied");
    CHECK(cause_of(7).find('\n') == std::string::npos);
}

TEST_CASE("what nobody catches is told in one line, under the name of the program")
{
    auto const ended = in_a_process(STDOUT_FILENO, [] {
        base::tell_uncaught();
        std::thread{[] { throw std::runtime_error{"two\nlines"}; }}.join();
        return 0;
    });
    CHECK(WIFEXITED(ended.status));
    CHECK(WEXITSTATUS(ended.status) == 2);
    CHECK(ended.said == std::string{program_invocation_short_name} + ": two lines\n");
}

TEST_CASE("what cannot be printed is said, whatever its size")
{
    int const full = open("/dev/full", O_WRONLY);
    REQUIRE(full >= 0);
    for (std::size_t const bytes : {1, 100, 5000, 1'000'000}) {
        CAPTURE(bytes);
        auto const ended = in_a_process(full, [=] { return prints(bytes); });
        CHECK(WEXITSTATUS(ended.status) == 2);
        CHECK(ended.said == "prog: standard output: cannot be written: No space left on device\n");
    }
    close(full);
}

TEST_CASE("a closed pipe ends a program without a word, also where its signal is ignored")
{
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    close(ends[0]);
    for (bool const ignored : {false, true}) {
        for (std::size_t const bytes : {1, 1'000'000}) {
            CAPTURE(ignored);
            auto const ended = in_a_process(ends[1], [=] {
                std::signal(SIGPIPE, ignored ? SIG_IGN : SIG_DFL);
                return prints(bytes);
            });
            CHECK(WIFSIGNALED(ended.status));
            CHECK(WTERMSIG(ended.status) == SIGPIPE);
            CHECK(ended.said == "");
        }
    }
    close(ends[1]);
}

TEST_CASE("a file is written whole or not at all")
{
    Folder const folder;
    auto const file = folder.path / "result.json";
    base::write_whole(file, "old");
    base::write_whole(file, "new");
    CHECK(text_of(file) == "new");
    base::append(file, " and more");
    CHECK(text_of(file) == "new and more");

    auto const said = error_beyond(1000, [&] { base::write_whole(file, std::string(5000, 'x')); });
    CHECK(said == file.string() + ".part: cannot be written: File too large");
    CHECK(text_of(file) == "new and more");
    CHECK(folder.files() == 1);

    auto const beyond = error_beyond(1000, [&] { base::append(file, std::string(5000, 'x')); });
    CHECK(beyond == file.string() + ": cannot be written: File too large");
    CHECK(text_of(file).starts_with("new and more"));

    CHECK_THROWS_AS(base::write_whole(folder.path / "none" / "a", "x"), std::system_error);
    CHECK_THROWS_AS(base::append(folder.path, "x"), std::system_error);
}

TEST_CASE("folders and devices are not replaced, files behind links are")
{
    Folder const folder;
    CHECK_THROWS_WITH_AS(base::write_whole("/dev/null", "x"),
                         "/dev/null: found a device, expected the name of a file",
                         std::invalid_argument);
    CHECK_THROWS_AS(base::require_replaceable(folder.path), std::invalid_argument);
    CHECK(folder.files() == 0);
    std::filesystem::create_symlink(folder.path, folder.path / "link");
    CHECK_THROWS_AS(base::write_whole(folder.path / "link", "x"), std::invalid_argument);
    CHECK_NOTHROW(base::require_replaceable(folder.path / "new"));
}
