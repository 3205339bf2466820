#pragma once

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <vector>

namespace spmv {

/// Shares that each of `threads` >= 1 threads should begin with in work that takes all of them
/// `nanoseconds` by the plan's model: 1 to 16. Sixteen threads get two from 5.5 us on, two threads
/// from 22 us: the more there are, the longer is the wait for the slowest.
inline int useful_shares(double nanoseconds, int threads)
{
    constexpr double worth_while = 11e3; // nanoseconds that a share should take on two threads
    return static_cast<int>(std::clamp(nanoseconds * std::log2(threads) / worth_while, 1.0, 16.0));
}

/// What threads that share work have to know, in one cache line where `body` leaves room for that:
/// each line that the calling thread has written takes every other one some time to fetch.
template <class Body>
struct alignas(64) DealtWork
{
    /// How many of a thread's shares were begun. Four counters lie in a cache line: each line takes
    /// time to fetch for those who look whether a share is left, and to take back for those who
    /// count in it.
    struct alignas(16) Begun
    {
        std::atomic<int> shares{1}; // each thread begins with its first
    };

    Body body;
    int threads;
    int shares;
    Begun* begun; ///< one for each thread

    /// Calls `body` for the shares of `owner` that nobody has begun.
    void finish(int owner) const
    {
        auto& taken = begun[owner].shares;
        // Relaxed: the number is all that threads tell each other before the region ends.
        while (taken.load(std::memory_order_relaxed) < shares) {
            int const share = taken.fetch_add(1, std::memory_order_relaxed);
            if (share < shares) {
                body(owner * shares + share);
            }
        }
    }

    /// What thread `self` of a team of `team` does.
    void take_part(int self, int team) const
    {
        if (shares > 1) {
            __builtin_prefetch(begun + self, 1); // comes while the first share is worked on
        }
        for (int owner = self; owner < threads; owner += team) { // fewer may come than were asked
            body(owner * shares);
        }
        for (int k = 0; k < threads && shares > 1; ++k) {
            finish((self + k) % threads);
        }
    }
};

/// Calls `body(part)` once for each part 0 <= `part` < `threads` * `shares`, both >= 1, and returns
/// when all are done. Each thread begins with `shares` parts side by side; one that is done with
/// its own takes what others have not begun, but for the first part of each. `body` must not throw,
/// and what it writes must depend on the part alone. It is copied once, and quickest if what it
/// captures is little and by value.
///
/// Processors are not equally fast: two of them may be halves of one core, which a virtual machine
/// can hide, or one is slower by design or busy with other work. With one share each, the slowest
/// decides; with several, all end at about the same time, and a thread that keeps up still finds
/// its own parts in its caches. On sixteen threads a second share costs 0.3 to 1 us. Owned parts
/// with stealing are those of Blumofe and Leiserson, "Scheduling multithreaded computations by work
/// stealing", JACM 46(5), 1999, without their queues, as nothing is spawned.
template <class Body>
void for_each_part(int threads, int shares, Body const& body)
{
    if (threads == 1) {
        for (int part = 0; part < shares; ++part) {
            body(part);
        }
        return;
    }
    using Work = DealtWork<Body>;
    std::vector<typename Work::Begun> begun(shares > 1 ? static_cast<std::size_t>(threads) : 0);
    Work const work{body, threads, shares, begun.data()};
    Work const* const shared = &work;
#pragma omp parallel num_threads(threads) firstprivate(shared)
    shared->take_part(omp_get_thread_num(), omp_get_num_threads());
}

} // namespace spmv
