#include "bench/all_processors.hpp"

#include "bench/team.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

namespace bench {

namespace {

/// Threads that sleep until there is something to do.
class Helpers
{
public:
    void run(std::size_t parts, std::function<void(std::size_t)> const& body)
    {
        std::unique_lock lock{mutex_};
        start(parts - 1, lock);
        body_ = &body;
        parts_ = parts;
        next_ = 0;
        begun_.notify_all();
        take_parts(lock);
        ended_.wait(lock, [this] { return at_work_ == 0; });
    }

private:
    /// As many as are asked for; fewer where the system has no more. Returns when each has asked
    /// OpenMP which processors there are: Clang's runtime aborts a process that ends meanwhile.
    void start(std::size_t threads, std::unique_lock<std::mutex>& lock)
    {
        try {
            for (; started_ < threads; ++started_) {
                std::thread{[this] { help(); }}.detach();
            }
        } catch (std::system_error const&) {
        }
        ended_.wait(lock, [this] { return ready_ == started_; });
    }

    void help()
    {
        leave_place();
        std::unique_lock lock{mutex_};
        ++ready_;
        ended_.notify_one();
        for (;;) {
            begun_.wait(lock, [this] { return next_ < parts_; });
            take_parts(lock);
            if (at_work_ == 0) {
                ended_.notify_one();
            }
        }
    }

    /// One part after the other, until none is left.
    void take_parts(std::unique_lock<std::mutex>& lock)
    {
        while (next_ < parts_) {
            auto const part = next_++;
            ++at_work_;
            lock.unlock();
            (*body_)(part);
            lock.lock();
            --at_work_;
        }
    }

    std::mutex mutex_; ///< of all that follows
    std::condition_variable begun_;
    std::condition_variable ended_; ///< all parts, or what new threads begin with
    std::function<void(std::size_t)> const* body_ = nullptr;
    std::size_t parts_ = 0;
    std::size_t next_ = 0;
    std::size_t at_work_ = 0;
    std::size_t started_ = 0;
    std::size_t ready_ = 0;
};

} // namespace

void on_helpers(std::size_t parts, std::function<void(std::size_t)> const& body)
{
    static auto& helpers = *new Helpers; // they sleep until the process ends: none waits for them
    static std::atomic_flag is_busy;
    if (parts <= 1 || is_busy.test_and_set()) {
        for (std::size_t part = 0; part < parts; ++part) {
            body(part);
        }
        return;
    }
    helpers.run(parts, body);
    is_busy.clear();
}

} // namespace bench
