#pragma once

#include <sched.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

namespace machine {

/// A set of processors, for as many as there are: `cpu_set_t` alone ends at 1,024.
class CpuSet
{
public:
    /// An empty one, of processors below `size`.
    explicit CpuSet(std::size_t size) : words_((size + word_bits - 1) / word_bits) {}

    std::size_t bytes() const { return words_.size() * sizeof(Word); }
    cpu_set_t* get() { return reinterpret_cast<cpu_set_t*>(words_.data()); }
    void add(int cpu);
    std::vector<int> members() const; ///< ascending

private:
    using Word = unsigned long; // as the kernel has it
    static constexpr std::size_t word_bits = 8 * sizeof(Word);
    std::vector<Word> words_;
};

/// Hardware threads that this thread may run on, by the system's numbers, ascending.
std::vector<int> affinity();

/// As `ask(bytes, set)` tells it, which is `sched_getaffinity`: an error number, or 0. It wants a
/// set for all processors of the machine, and tells not how many these are.
std::vector<int> affinity(std::function<int(std::size_t, cpu_set_t*)> const& ask);

/// What control groups let this process use at most: a container's, those of a job, a user or a
/// service, each with all that lie around it. Nothing where none sets a bound.
struct Limits
{
    std::optional<double> processors;       ///< busy at once, on average
    std::optional<std::size_t> memory_left; ///< bytes, beside what their processes use already
};

/// Of groups of version 1 and 2, as /proc and /sys below `root` tell.
Limits limits(std::filesystem::path const& root = "/");

/// How many threads can run at once on so many processors: whole ones, as two threads in a quota of
/// 1.5 would wait for each other; at least one.
int at_once(std::size_t processors, Limits const& limits = machine::limits());

/// Bytes that this process may still take without anything being swapped or ended for it: what is
/// free in the machine or is cache of files, as far as its groups have it left.
std::size_t available_memory_bytes(std::filesystem::path const& root = "/");

} // namespace machine
