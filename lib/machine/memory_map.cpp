#include "machine/memory_map.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

namespace machine {

namespace {

using Use = std::function<void(std::span<std::byte const>)>;

/// A file that is read at places: /proc/self/pagemap wants whole entries, which no stream asks for.
class Places
{
public:
    explicit Places(std::filesystem::path const& file)
        : file_{open(file.c_str(), O_RDONLY | O_CLOEXEC)}
    {
    }
    Places(Places const&) = delete;
    Places& operator=(Places const&) = delete;
    ~Places() { close(file_); }

    bool read(std::span<std::uint64_t> entries, std::size_t first) const
    {
        auto const offset = static_cast<off_t>(first * sizeof entries[0]);
        return pread(file_, entries.data(), entries.size_bytes(), offset) ==
               static_cast<ssize_t>(entries.size_bytes());
    }

private:
    int file_;
};

struct Mapping
{
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    bool may_be_written = false;
    bool is_of_a_device = false;
};

/// Of a line of /proc/self/maps: `7f00-7f20 rw-p 00000000 00:00 0 [heap]`.
Mapping parse(char const* line)
{
    Mapping found;
    char writes = '-';
    int path = 0;
    std::sscanf(line, "%lx-%lx %*c%c%*s %*s %*s %*s%n", &found.begin, &found.end, &writes, &path);
    std::string_view name{line + path};
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    found.may_be_written = writes == 'w';
    found.is_of_a_device = name.starts_with("/dev/") && !name.starts_with("/dev/shm/") &&
                           !name.starts_with("/dev/zero") && !name.starts_with("/dev/hugepages/");
    return found;
}

/// Calls `use` with those pages of a mapping that are there; false where that cannot be told.
bool use_pages(Mapping const& mapping, std::size_t page, Places const& page_map, Use const& use)
{
    constexpr std::uint64_t present = std::uint64_t{1} << 63;
    static std::array<std::uint64_t, 1 << 13> entries;
    for (auto at = mapping.begin; at < mapping.end; at += entries.size() * page) {
        auto const count = std::min(entries.size(), (mapping.end - at) / page);
        if (!page_map.read(std::span{entries}.first(count), at / page)) {
            return false;
        }
        auto const is_there = [&](std::uint64_t entry) { return (entry & present) != 0; };
        auto const* const all = std::as_const(entries).data();
        auto const* const end = all + count;
        for (auto const* first = std::find_if(all, end, is_there); first < end;) {
            auto const* const last = std::find_if_not(first, end, is_there);
            auto const* const begin = reinterpret_cast<std::byte const*>(at) +
                                      static_cast<std::size_t>(first - all) * page;
            use(std::span{begin, static_cast<std::size_t>(last - first) * page});
            first = std::find_if(last, end, is_there);
        }
    }
    return true;
}

} // namespace

bool for_resident_memory(Use const& use, std::filesystem::path const& process)
{
    auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    auto const memory = page * static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
    // From here on nothing is allocated or freed: that might take away what was listed.
    static std::vector<char> text(1 << 20);
    std::ifstream maps{process / "maps"};
    Places const page_map{process / "pagemap"};
    maps.read(text.data(), static_cast<std::streamsize>(text.size()));
    auto const length = static_cast<std::size_t>(maps.gcount());
    if (length == text.size()) {
        return false;
    }
    std::replace(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length), '\n', '\0');
    text[length] = '\0';
    for (auto const* line = text.data(); *line != '\0'; line += std::string_view{line}.size() + 1) {
        auto const mapping = parse(line);
        if (!mapping.may_be_written || mapping.end - mapping.begin > memory) {
            continue;
        }
        if (mapping.is_of_a_device || !use_pages(mapping, page, page_map, use)) {
            return false;
        }
    }
    return length > 0;
}

} // namespace machine
