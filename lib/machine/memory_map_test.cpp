#include "machine/memory_map.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>

namespace {

using Range = std::span<std::byte const>;

/// Whether the system tells which pages are there; where it does not, nothing may be told.
bool is_told()
{
    bool const tells = std::ifstream{"/proc/self/pagemap"}.good();
    if (!tells) {
        CHECK_FALSE(machine::for_resident_memory([](Range) {}));
    }
    return tells;
}

/// Whether an address is in the memory that is there.
bool is_there(std::byte const* address)
{
    bool found = false;
    REQUIRE(machine::for_resident_memory([&](Range range) {
        found = found || (range.data() <= address && address < range.data() + range.size());
    }));
    return found;
}

/// Pages that may be written, or read alone.
struct Pages
{
    std::size_t const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::size_t const count;
    std::byte* const first;

    explicit Pages(int flags, int allowed = PROT_READ | PROT_WRITE, std::size_t pages = 8)
        : count{pages}, first{static_cast<std::byte*>(
                            mmap(nullptr, count * page, allowed, flags | MAP_ANONYMOUS, -1, 0))}
    {
        madvise(first, count * page, MADV_NOHUGEPAGE);
    }
    Pages(Pages const&) = delete;
    Pages& operator=(Pages const&) = delete;
    ~Pages() { munmap(first, count * page); }

    std::byte* at(std::size_t index) const { return first + index * page; }
};

} // namespace

TEST_CASE("pages count from when they were written, whoever shares them")
{
    if (!is_told()) {
        return;
    }
    for (auto const flags : {MAP_PRIVATE, MAP_SHARED}) {
        Pages const pages{flags};
        *pages.at(2) = std::byte{1};
        *pages.at(3) = std::byte{1};
        CHECK_FALSE(is_there(pages.at(1)));
        CHECK(is_there(pages.at(2)));
        CHECK(is_there(pages.at(4) - 1));
        CHECK_FALSE(is_there(pages.at(4)));
    }
}

TEST_CASE("the stack and small memory count, what is never written does not")
{
    if (!is_told()) {
        return;
    }
    auto const small = std::make_unique<std::byte>(std::byte{1});
    std::byte const here{};
    static std::byte changed{1};
    changed = std::byte{2};
    Pages const read_only{MAP_PRIVATE, PROT_READ};
    static_cast<void>(*static_cast<std::byte const volatile*>(read_only.at(0)));
    CHECK(is_there(small.get()));
    CHECK(is_there(&here));
    CHECK(is_there(&changed));
    CHECK_FALSE(is_there(read_only.at(0)));
}

TEST_CASE("all of a large mapping with holes is told, page by page at most once")
{
    if (!is_told()) {
        return;
    }
    Pages const pages{MAP_PRIVATE, PROT_READ | PROT_WRITE, 20'000};
    std::size_t there = 0;
    for (std::size_t i = 0; i < 20'000; ++i) {
        if (i % 7 < 3 || (8'000 < i && i < 9'000)) {
            *pages.at(i) = std::byte{1};
            ++there;
        }
    }
    std::size_t told = 0;
    CHECK(machine::for_resident_memory([&](Range range) {
        if (pages.first <= range.data() && range.data() < pages.at(20'000)) {
            told += range.size() / pages.page;
        }
    }));
    CHECK(told == there);
}

TEST_CASE("nothing is told of a process that maps a device, or of none")
{
    auto const process =
        std::filesystem::temp_directory_path() / ("memory-map-" + std::to_string(getpid()));
    std::filesystem::create_directory(process);
    std::ofstream{process / "pagemap"} << "";
    auto const told = [&](std::string const& lines) {
        std::ofstream{process / "maps"} << lines;
        return machine::for_resident_memory([](Range) {}, process);
    };
    CHECK_FALSE(told(""));
    CHECK(told("1000-2000 r--p 00000000 00:00 0  /usr/lib/some.so\n"));
    CHECK_FALSE(told("1000-2000 rw-s 00000000 00:05 42  /dev/nvidia0\n"));
    CHECK(told("1000-2000 r--s 00000000 00:05 42  /dev/nvidia0\n"));
    CHECK_FALSE(told("1000-2000 rw-p 00000000 00:00 0 \n")); // the page map is too short for it
    CHECK(told("1000-7ffff0000000 rw-p 00000000 00:00 0 \n"));
    std::filesystem::remove_all(process);
    CHECK_FALSE(told("")); // no folder to write it into
}
