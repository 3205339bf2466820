#pragma once

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <vector>

namespace spmv {

/// Shares that each of `threads` >= 1 threads should begin with in work that takes all of them
/// `nanoseconds`: 1 to 16. Sixteen threads get several from 15 us on, two from 60 us: the more
/// there are, the longer is the wait for the slowest. Fewer than three leave as much to wait for as
/// one.
inline int useful_shares(double nanoseconds, int threads)
{
    constexpr double worth_while = 20e3; // nanoseconds that a share should take on two threads
    constexpr double few = 3;
    constexpr double plenty = 16;
    double const shares = nanoseconds * std::log2(threads) / worth_while;
    return shares < few ? 1 : static_cast<int>(std::min(shares, plenty));
}

/// Calls `body(part)` once for each part 0 <= `part` < `threads` * `shares`, both >= 1, and returns
/// when all are done. Each thread begins with `shares` parts side by side; one that is done with
/// its own takes what others have not begun. `body` must not throw, and what it writes must depend
/// on the part alone.
///
/// Processors are not equally fast: two of them may be halves of one core, which a virtual machine
/// can hide, or one is slower by design or busy with other work. With one share each, the slowest
/// decides; with several, all end at about the same time, and a thread that keeps up still finds
/// its own parts in its caches. On sixteen threads the first shares more cost 1 to 2 us, each one
/// after 0.3 us. Owned parts with stealing are those of Blumofe and Leiserson, "Scheduling
/// multithreaded computations by work stealing", JACM 46(5), 1999, without their queues, as nothing
/// is spawned.
template <class Body>
void for_each_part(int threads, int shares, Body const& body)
{
    if (threads == 1) {
        for (int part = 0; part < shares; ++part) {
            body(part);
        }
        return;
    }
    struct alignas(64) Begun // a cache line of its own: usually one thread alone counts here
    {
        std::atomic<int> shares{0};
    };
    std::vector<Begun> begun(shares > 1 ? static_cast<std::size_t>(threads) : 0);
#pragma omp parallel num_threads(threads)
    {
        int const self = omp_get_thread_num();
        if (shares == 1) {
            for (int part = self; part < threads; part += omp_get_num_threads()) {
                body(part);
            }
        }
        for (int k = 0; k < threads && shares > 1; ++k) {
            int const owner = (self + k) % threads;
            auto& taken = begun[static_cast<std::size_t>(owner)].shares;
            // Relaxed: the number is all that threads tell each other before the region ends.
            while (taken.load(std::memory_order_relaxed) < shares) {
                int const share = taken.fetch_add(1, std::memory_order_relaxed);
                if (share < shares) {
                    body(owner * shares + share);
                }
            }
        }
    }
}

} // namespace spmv
