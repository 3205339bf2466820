#include "machine/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <system_error>

namespace machine {

namespace {

using std::filesystem::path;

/// A hierarchy of control groups, as mounted: `top` is the group that the mount point shows.
struct Mount
{
    path point;
    std::string top;
    std::string controllers; ///< between commas, as ",cpu,cpuacct,"; of version 2: ","
};

/// Of /proc, where a blank is written as \040.
std::string unescaped(std::string const& text)
{
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size()) {
            plain += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

/// From lines `36 35 0:30 TOP POINT OPTIONS [TAG...] - TYPE SOURCE CONTROLLERS,AND,OPTIONS`.
std::vector<Mount> mounts(path const& root)
{
    std::vector<Mount> found;
    std::ifstream file{root / "proc/self/mountinfo"};
    for (std::string line; std::getline(file, line);) {
        std::istringstream words{line};
        std::string word;
        std::string top;
        std::string point;
        std::string type;
        std::string options;
        words >> word >> word >> word >> top >> point;
        while (words >> word && word != "-") {
        }
        words >> type >> word >> options;
        if (type == "cgroup" || type == "cgroup2") {
            found.push_back({root / path{unescaped(point)}.relative_path(), unescaped(top),
                             type == "cgroup" ? fmt::format(",{},", options) : ","});
        }
    }
    return found;
}

/// The part of a group's path below the group that a mount shows; none where it lies elsewhere, as
/// in a container that sees its own group as the top.
path below(std::string const& top, std::string const& group)
{
    auto const prefix = top == "/" ? top : top + "/";
    return group.starts_with(prefix) ? path{group.substr(prefix.size())} : path{};
}

/// The folders of the groups that this process is in and of those around them, for a controller:
/// from lines `4:cpu,cpuacct:/path`, of version 2 `0::/path`.
std::vector<path> groups(path const& root, std::string const& controller)
{
    std::vector<path> folders;
    auto const wanted = fmt::format(",{},", controller);
    auto const mounted = mounts(root);
    std::ifstream file{root / "proc/self/cgroup"};
    for (std::string line; std::getline(file, line);) {
        auto const first = line.find(':');
        auto const second = line.find(':', first + 1);
        if (second == std::string::npos) {
            continue;
        }
        auto const controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
        bool const unified = controllers == ",,";
        if (!unified && controllers.find(wanted) == std::string::npos) {
            continue;
        }
        for (auto const& mount : mounted) {
            if (unified ? mount.controllers == ","
                        : mount.controllers.find(wanted) != std::string::npos) {
                folders.push_back(mount.point);
                for (auto const& part : below(mount.top, line.substr(second + 1))) {
                    folders.push_back(folders.back() / part);
                }
            }
        }
    }
    return folders;
}

/// The first number of a file; none if it is another word ("max") or less than 0.
std::optional<double> number(path const& file)
{
    std::ifstream stream{file};
    double value = 0;
    return stream >> value && value >= 0 ? std::optional{value} : std::nullopt;
}

/// The number behind a key, from lines `KEY NUMBER`.
std::optional<double> number(path const& file, std::string const& key)
{
    std::ifstream stream{file};
    for (std::string line; std::getline(stream, line);) {
        std::istringstream words{line};
        std::string word;
        double value = 0;
        if (words >> word >> value && word == key) {
            return value;
        }
    }
    return std::nullopt;
}

std::optional<double> least(std::optional<double> a, std::optional<double> b)
{
    return a && b ? std::min(*a, *b) : a ? a : b;
}

/// What one group lets its processes use of the processors.
std::optional<double> quota(path const& group)
{
    std::ifstream file{group / "cpu.max"};
    double used = 0;
    double period = 0;
    if (file >> used >> period && period > 0) {
        return used / period;
    }
    auto const used_1 = number(group / "cpu.cfs_quota_us");
    auto const period_1 = number(group / "cpu.cfs_period_us");
    return used_1 && period_1 && *period_1 > 0 ? std::optional{*used_1 / *period_1} : std::nullopt;
}

/// Bytes that one group has left. Cache of files counts as its use, and makes way when asked.
std::optional<double> left(path const& group)
{
    auto const limit = least(number(group / "memory.limit_in_bytes"),
                             least(number(group / "memory.max"), number(group / "memory.high")));
    if (!limit) {
        return std::nullopt;
    }
    auto const used =
        least(number(group / "memory.current"), number(group / "memory.usage_in_bytes"));
    auto const stat = group / "memory.stat";
    auto const total = number(stat, "total_inactive_file");
    auto const cache = total ? total : number(stat, "inactive_file");
    return std::max(0.0, *limit - std::max(0.0, used.value_or(0) - cache.value_or(0)));
}

} // namespace

void CpuSet::add(int cpu)
{
    auto const at = static_cast<std::size_t>(cpu);
    words_.at(at / word_bits) |= Word{1} << at % word_bits;
}

std::vector<int> CpuSet::members() const
{
    std::vector<int> cpus;
    for (std::size_t cpu = 0; cpu < words_.size() * word_bits; ++cpu) {
        if ((words_[cpu / word_bits] >> cpu % word_bits & 1) != 0) {
            cpus.push_back(static_cast<int>(cpu));
        }
    }
    return cpus;
}

std::vector<int> affinity(std::function<int(std::size_t, cpu_set_t*)> const& ask)
{
    for (std::size_t size = CPU_SETSIZE;; size *= 2) {
        CpuSet set{size};
        auto const error = ask(set.bytes(), set.get());
        if (error == 0) {
            return set.members();
        }
        if (error != EINVAL || size > std::numeric_limits<int>::max() / 2) {
            throw std::system_error{error, std::generic_category(), "sched_getaffinity"};
        }
    }
}

std::vector<int> affinity()
{
    return affinity([](std::size_t bytes, cpu_set_t* set) {
        return sched_getaffinity(0, bytes, set) == 0 ? 0 : errno;
    });
}

Limits limits(std::filesystem::path const& root)
{
    std::optional<double> processors;
    for (auto const& group : groups(root, "cpu")) {
        processors = least(processors, quota(group));
    }
    std::optional<double> memory;
    for (auto const& group : groups(root, "memory")) {
        memory = least(memory, left(group));
    }
    // Version 1 says "no bound" with a number beyond all memory.
    bool const bounded = memory && *memory < 0x1p62;
    return {.processors = processors,
            .memory_left =
                bounded ? std::optional{static_cast<std::size_t>(*memory)} : std::nullopt};
}

int at_once(std::size_t processors, Limits const& limits)
{
    auto const allowed = std::floor(limits.processors.value_or(std::numeric_limits<int>::max()));
    return std::max(1, static_cast<int>(std::min(static_cast<double>(processors), allowed)));
}

std::size_t available_memory_bytes(std::filesystem::path const& root)
{
    auto const meminfo = root / "proc/meminfo";
    auto const available = number(meminfo, "MemAvailable:");
    auto const kibibytes = available ? available : number(meminfo, "MemFree:");
    auto const free = static_cast<std::size_t>(1024 * kibibytes.value_or(0));
    return std::min(free, limits(root).memory_left.value_or(free));
}

} // namespace machine
