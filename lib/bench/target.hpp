#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// Measures how long a batch of work takes. Adapters in `lib/cuda` and `lib/mpi` add devices and
/// ranks.
class Clock
{
public:
    virtual ~Clock() = default;

    /// Name stored with every sample: "host", "cuda-event", "max-over-ranks(host)", ...
    virtual std::string name() const = 0;

    /// Makes ready who will work on the next batch; comes last before a sample.
    virtual void wake() {}

    /// Seconds from the start of `batch` until all its work has finished.
    virtual double seconds(std::function<void()> const& batch) = 0;

    /// As `seconds`, of what a variant prepares once, which may do more than a timed batch: work on
    /// the host, allocate, wait.
    virtual double setup_seconds(std::function<void()> const& setup) { return seconds(setup); }
};

/// Wall time of the calling thread: `std::chrono::steady_clock`.
class HostClock : public Clock
{
public:
    std::string name() const override { return "host"; }

    /// Wakes OpenMP's threads, which slept while caches were emptied, and waits until all of them
    /// come at once. Without that, of 32 threads' products every fourth or fifth took some 6 ms,
    /// ten times the others. Gives up after 20 ms.
    void wake() override;

    double seconds(std::function<void()> const& batch) override;
};

/// The processes that measure together. Rank 0 decides (order, sample counts) and the others
/// follow; a check passes only if it passes on every rank. The default is one process; `lib/mpi`
/// adapts a communicator.
class Team
{
public:
    virtual ~Team() = default;
    virtual int rank() const { return 0; }
    virtual int size() const { return 1; }

    /// Machines that the processes are on.
    virtual int hosts() const { return 1; }

    /// Rank 0's value, on every rank.
    virtual std::uint64_t from_root(std::uint64_t value) { return value; }

    /// True if `value` is true on every rank.
    virtual bool all(bool value) { return value; }

    /// Largest `value` of all ranks.
    virtual double maximum(double value) { return value; }

    /// Says in one line why the run ends early, and returns the program's exit code, 2.
    virtual int failed(std::string const& reason)
    {
        std::fprintf(stderr, "%s\n", reason.c_str());
        return 2;
    }
};

/// State of the caches when a timed call begins.
enum class Cache
{
    automatic, ///< cold if the compulsory bytes exceed the target's last-level cache, else warm
    cold,      ///< flushed before every sample
    warm,      ///< the variant ran just before the sample, a few times if it is short
};

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<std::byte const>;

/// Where work runs and where its operands lie: the processors of this process (`host()`), a GPU
/// (`cuda::Gpu`), several processes together (`mpi::Ranks`).
///
/// Whatever a target does with memory may be queued; `finish` waits for it. `name`, `missing` and
/// `depends_on_threads` may be asked for where there is no such device, everything else not.
class Target
{
public:
    virtual ~Target() = default;

    /// In records: "host", "cuda", "ranks".
    virtual std::string name() const = 0;

    /// Why nothing can run there on this machine; empty if it can.
    virtual std::string missing() const { return {}; }

    /// Whether what it does depends on the threads of this process. If not, one process of several
    /// with different numbers of threads measures it.
    virtual bool depends_on_threads() const { return true; }

    /// Bytes of all its last-level caches together.
    virtual std::size_t cache_bytes() = 0;

    /// Evicts everything from its caches. It only reads, so that no write-back is left to the call.
    virtual void flush() = 0;

    /// The clock of calls that begin with such caches; never `Cache::automatic`.
    virtual Clock& clock(Cache cache) = 0;

    /// The target whose memory its work reads and writes. One that has none of its own says so
    /// here; every other overrides all that follows.
    virtual Target& memory() { return *this; }

    /// Memory for at least one byte, aligned to 64. Throws if there is not enough.
    virtual std::shared_ptr<std::byte> allocate(std::size_t bytes)
    {
        return memory().allocate(bytes);
    }

    /// From the host's memory into this one's, and back. Both are of one size.
    virtual void upload(Bytes to, ConstBytes from) { memory().upload(to, from); }
    virtual void fetch(Bytes to, ConstBytes from) { memory().fetch(to, from); }

    /// Overwrites every byte.
    virtual void poison(Bytes bytes, unsigned char with) { memory().poison(bytes, with); }

    /// Waits until all its work is done.
    virtual void finish() {}

    /// Tells a profiler that watches this program that a sample begins, or has ended. Asked only
    /// where `is_profiled()`.
    virtual void profile(bool /*begins*/) {}

    /// The processes that work together there.
    virtual Team& team();
};

/// Evicts everything from the caches by reading: all processors that this process may use read
/// twice the last-level cache together, since one alone would take longer than most calls that are
/// timed; then each of its threads reads twice what its core alone has, and where there are several
/// last-level caches twice the one of its core. It only reads, so that no write-back of its own
/// lines is left to the timed call.
class CacheFlush
{
public:
    explicit CacheFlush(std::size_t last_level_cache_bytes);

    void operator()();

private:
    void read_first(std::size_t bytes) const;

    std::vector<std::uint64_t> words_;
};

/// Whether a profiler counts what timed calls do (`just profile`): the environment variable
/// MEMWALL_PROFILER is set. For processors its value is two open files, `6,7`: where `perf stat` is
/// told to begin and to end, and where it answers (`--control fd:` of that).
bool is_profiled();

/// The processors of this process, with as many threads as OpenMP would use.
Target& host();

/// From now on the last-level cache of `host()` counts as no larger than this: for tests of a
/// program, whose times mean nothing.
void limit_cache(std::size_t bytes);

} // namespace bench
