#include "bench/target.hpp"

#include "bench/all_processors.hpp"
#include "bench/do_not_optimize.hpp"
#include "machine/topology.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace bench {

namespace {

constexpr std::size_t words_of_line = 64 / sizeof(std::uint64_t);

} // namespace

CacheFlush::CacheFlush(std::size_t last_level_cache_bytes)
    : words_(2 * last_level_cache_bytes / sizeof(std::uint64_t), 1)
{
}

void CacheFlush::operator()()
{
    constexpr std::size_t streams = 4; // one alone does not use all of the bandwidth
    auto const lines = words_.size() / words_of_line / streams;
    on_all_processors(lines, [&](std::size_t begin, std::size_t end) {
        std::uint64_t sum = 0;
        for (std::size_t i = begin; i < end; ++i) {
            for (std::size_t stream = 0; stream < streams; ++stream) {
                sum += words_[(stream * lines + i) * words_of_line];
            }
        }
        do_not_optimize(sum);
    });
    // Who read what is the system's choice: of several last-level caches a thread empties its own.
    auto const& topology = machine::topology();
    auto const& own = topology.core_caches;
    auto const bytes = topology.last_level_cache_bytes() > own.shared ? own.shared : own.core;
#pragma omp parallel
    read_first(2 * bytes);
}

void CacheFlush::read_first(std::size_t bytes) const
{
    auto const end = std::min(bytes / sizeof(std::uint64_t), words_.size());
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < end; i += words_of_line) {
        sum += words_[i];
    }
    do_not_optimize(sum);
}

namespace {

constexpr char const* profiler = "MEMWALL_PROFILER";

class Host : public Target
{
public:
    std::string name() const override { return "host"; }
    std::size_t cache_bytes() override { return cache_bytes_; }

    void limit_cache(std::size_t bytes)
    {
        cache_bytes_ = std::min(cache_bytes_, bytes);
        flush_.reset();
    }

    void flush() override
    {
        if (!flush_) {
            flush_.emplace(cache_bytes_);
        }
        (*flush_)();
    }

    Clock& clock(Cache) override { return clock_; }

    std::shared_ptr<std::byte> allocate(std::size_t bytes) override
    {
        constexpr std::align_val_t line{64};
        auto const size = std::max<std::size_t>(bytes, 1);
        auto* const memory = static_cast<std::byte*>(::operator new(size, line));
        std::fill_n(memory, bytes, std::byte{});
        return {memory, [](std::byte* p) { ::operator delete(p, line); }};
    }

    void upload(Bytes to, ConstBytes from) override { copy(to, from); }
    void fetch(Bytes to, ConstBytes from) override { copy(to, from); }

    /// In plain stores: `memset` would write large arrays past the caches.
    void poison(Bytes bytes, unsigned char with) override
    {
        using Word = std::uint64_t;
        auto const words = bytes.size() / sizeof(Word);
        auto const pattern = Word{with} * (~Word{0} / 0xff);
        auto* const first = reinterpret_cast<Word*>(bytes.data());
        on_all_processors(words, [=](std::size_t begin, std::size_t end) {
            std::fill(first + begin, first + end, pattern);
        });
        std::ranges::fill(bytes.subspan(words * sizeof(Word)), std::byte{with});
    }

    void profile(bool begins) override
    {
        int tell = 0;
        int answers = 0;
        char const* const told = std::getenv(profiler);
        if (told == nullptr || std::sscanf(told, "%d,%d", &tell, &answers) != 2) {
            return;
        }
        std::string_view const what = begins ? "enable\n" : "disable\n";
        std::array<char, sizeof "ack\n"> answer{};
        if (::write(tell, what.data(), what.size()) != static_cast<ssize_t>(what.size()) ||
            ::read(answers, answer.data(), answer.size()) <= 0) {
            throw std::runtime_error{"the profiler does not answer"};
        }
    }

private:
    static void copy(Bytes to, ConstBytes from)
    {
        if (to.data() != from.data()) {
            std::ranges::copy(from, to.begin());
        }
    }

    std::size_t cache_bytes_ = machine::topology().last_level_cache_bytes();
    std::optional<CacheFlush> flush_;
    HostClock clock_;
};

Host& only_host()
{
    static Host target;
    return target;
}

} // namespace

bool is_profiled()
{
    return std::getenv(profiler) != nullptr;
}

Team& Target::team()
{
    static Team alone;
    return alone;
}

Target& host()
{
    return only_host();
}

void limit_cache(std::size_t bytes)
{
    only_host().limit_cache(bytes);
}

} // namespace bench
