#pragma once

#include "bench/target.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// \file
/// Targets for tests only.

namespace bench::testing {

/// A device in this process: its copies of operands lie apart from the host's, and what it is told
/// to do waits in a queue until somebody waits for it, as on a GPU.
class FakeTarget : public Target
{
public:
    // --- what a test decides ---

    std::string why_missing;
    bool by_threads = false;
    std::size_t cache = 1 << 30;

    /// What its clocks measure for a batch, whatever that does.
    std::function<double()> batch_seconds = [] { return 1e-3; };

    /// Puts work into its queue.
    void put(std::function<void()> work) { queue_.push_back(std::move(work)); }

    // --- what a test sees ---

    /// What it and its clocks were told, in order: (p)oison, (f)lush, (w)ake, time a batch (s);
    /// < and > around what a profiler is to count.
    std::string told;

    /// How often it was asked for anything but what may be asked where it is missing.
    std::size_t touched = 0;

    /// True while a batch is timed.
    bool is_timing = false;

    /// Whether nothing waits in its queue.
    bool is_idle() const { return queue_.empty(); }

    std::size_t times(char what) const
    {
        return static_cast<std::size_t>(std::ranges::count(told, what));
    }

    // --- as a target ---

    std::string name() const override { return "fake"; }
    std::string missing() const override { return why_missing; }
    bool depends_on_threads() const override { return by_threads; }

    std::size_t cache_bytes() override
    {
        touch();
        return cache;
    }

    void flush() override { tell('f'); }

    Clock& clock(Cache cache) override
    {
        touch();
        if (cache == Cache::automatic) {
            throw std::logic_error{"no clock is for caches of either kind"};
        }
        return cache == Cache::cold ? cold_clock_ : warm_clock_;
    }

    std::shared_ptr<std::byte> allocate(std::size_t bytes) override
    {
        touch();
        constexpr std::align_val_t line{64};
        auto const size = std::max<std::size_t>(bytes, 1);
        auto* const memory = static_cast<std::byte*>(::operator new(size, line));
        return {memory, [this](std::byte* p) {
                    run_queue();
                    ::operator delete(p, line);
                }};
    }

    void upload(Bytes to, ConstBytes from) override
    {
        touch();
        put([to, from] { std::memcpy(to.data(), from.data(), from.size()); });
    }

    void fetch(Bytes to, ConstBytes from) override
    {
        touch();
        put([to, from] { std::memcpy(to.data(), from.data(), from.size()); });
    }

    void poison(Bytes bytes, unsigned char with) override
    {
        tell('p');
        put([bytes, with] { std::memset(bytes.data(), with, bytes.size()); });
    }

    void finish() override
    {
        touch();
        run_queue();
    }

    void profile(bool begins) override { tell(begins ? '<' : '>'); }

private:
    class FakeClock : public Clock
    {
    public:
        FakeClock(std::string name, FakeTarget& of) : name_{std::move(name)}, of_{of} {}

        std::string name() const override { return name_; }
        void wake() override { of_.tell('w'); }

        double seconds(std::function<void()> const& batch) override
        {
            of_.tell('s');
            struct Timing
            {
                explicit Timing(bool& is) : is_timing{is} { is_timing = true; }
                ~Timing() { is_timing = false; }
                bool& is_timing;
            } const timing{of_.is_timing};
            batch();
            of_.run_queue();
            return of_.batch_seconds();
        }

        double setup_seconds(std::function<void()> const& setup) override
        {
            setup();
            of_.run_queue();
            return 0.5;
        }

    private:
        std::string name_;
        FakeTarget& of_;
    };

    void touch()
    {
        ++touched;
        if (!why_missing.empty()) {
            throw std::logic_error{"a target that is missing was touched"};
        }
    }

    void tell(char what)
    {
        touch();
        told += what;
    }

    void run_queue()
    {
        for (auto const& work : std::exchange(queue_, {})) {
            work();
        }
    }

    FakeClock cold_clock_{"fake-cold", *this};
    FakeClock warm_clock_{"fake-warm", *this};
    std::vector<std::function<void()>> queue_;
};

/// The host, with a team that keeps to itself why a run ended early. Its memory is that of
/// `host()`.
class ListeningHost : public Target
{
public:
    /// Why the run ended early; empty if it did not.
    std::string const& reason() const { return team_.reason; }

    std::string name() const override { return host().name(); }
    std::size_t cache_bytes() override { return host().cache_bytes(); }
    void flush() override { host().flush(); }
    Clock& clock(Cache cache) override { return host().clock(cache); }
    Target& memory() override { return host(); }
    std::shared_ptr<std::byte> allocate(std::size_t bytes) override
    {
        return host().allocate(bytes);
    }
    void upload(Bytes to, ConstBytes from) override { host().upload(to, from); }
    void fetch(Bytes to, ConstBytes from) override { host().fetch(to, from); }
    void poison(Bytes bytes, unsigned char with) override { host().poison(bytes, with); }
    Team& team() override { return team_; }

private:
    struct Alone : Team
    {
        int failed(std::string const& why) override
        {
            reason = why;
            return 2;
        }
        std::string reason;
    };

    Alone team_;
};

} // namespace bench::testing
