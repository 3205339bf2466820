#include "sparse/catalogue/digest.hpp"

#include "sparse/catalogue/generators.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace {

struct TemporaryFile
{
    std::filesystem::path path;

    explicit TemporaryFile(std::string const& content)
        : path{std::filesystem::temp_directory_path() /
               ("memwall_digest_" + std::to_string(getpid()))}
    {
        std::ofstream{path, std::ios::binary} << content;
    }
    ~TemporaryFile() { std::filesystem::remove(path); }
};

} // namespace

TEST_CASE("the digest of a file is its SHA-256")
{
    // The examples of FIPS 180-2.
    TemporaryFile const abc{"abc"};
    CHECK(sparse::file_digest(abc.path) ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    TemporaryFile const nothing{""};
    CHECK(sparse::file_digest(nothing.path) ==
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    TemporaryFile const million{std::string(1000000, 'a')};
    CHECK(sparse::file_digest(million.path) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("a file that cannot be read is an error that names it")
{
    CHECK_THROWS_WITH(sparse::file_digest("no/such/file"),
                      "no/such/file: cannot read: No such file or directory");
    CHECK_THROWS_WITH(sparse::file_digest("."), ".: cannot read: Is a directory");
}

TEST_CASE("the digest of a structure is that of its numbers as little-endian integers")
{
    // [1 0 1]
    // [0 0 0], so: 2, 3, 2, then 0, 2, 2, then 0, 2.
    sparse::Pattern<> pattern;
    pattern.rows = 2;
    pattern.columns = 3;
    pattern.row_ptr = {0, 2, 2};
    pattern.col = {0, 2};
    std::string bytes;
    for (char const number : {2, 3, 2}) {
        bytes += number + std::string(7, '\0');
    }
    for (char const number : {0, 2, 2, 0, 2}) {
        bytes += number + std::string(3, '\0');
    }
    TemporaryFile const file{bytes};
    CHECK(sparse::structure_digest(pattern) == sparse::file_digest(file.path));
}

TEST_CASE("the digest does not depend on the index type")
{
    CHECK(sparse::structure_digest(sparse::ragged<std::int32_t>(3000, 700, 9, 5)) ==
          sparse::structure_digest(sparse::ragged<std::int64_t>(3000, 700, 9, 5)));
}

TEST_CASE("what does not fit 31 bits takes 64")
{
    sparse::Pattern<std::int64_t> pattern;
    pattern.rows = 1;
    pattern.columns = std::int64_t{1} << 31;
    pattern.row_ptr = {0, 1};
    pattern.col = {7};
    std::string bytes;
    for (std::string const number : {"\1", "", "\1", "", "\1", "\7"}) {
        bytes += number + std::string(8 - number.size(), '\0');
    }
    bytes[8 + 3] = '\x80';
    TemporaryFile const file{bytes};
    CHECK(sparse::structure_digest(pattern) == sparse::file_digest(file.path));
}

TEST_CASE("the digest tells shapes apart")
{
    auto const of = [](auto const& pattern) { return sparse::structure_digest(pattern); };
    CHECK(of(sparse::empty(1, 2)) != of(sparse::empty(2, 1)));
    CHECK(of(sparse::empty(0, 0)) != of(sparse::empty(0, 1)));
    CHECK(of(sparse::dense(1, 4)) != of(sparse::dense(2, 2)));
    CHECK(of(sparse::ragged(50, 50, 5, 1)) != of(sparse::ragged(50, 50, 5, 2)));
}
