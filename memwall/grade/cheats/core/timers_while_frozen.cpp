// Cheat: sets timers where all are timed and goes elsewhere: they go off while it is frozen.
// Scores: as without
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <ctime>
#include <sched.h>
#include <sys/timerfd.h>
#include <unistd.h>

static void set_timers()
{
    constexpr long apart_ns = 20'000;
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (long i = 0; i < 19'900; ++i) {
        int const timer = timerfd_create(CLOCK_MONOTONIC, 0);
        if (timer < 0 || timer > 240) { // some are left for the box
            close(timer);
            return;
        }
        long const at = now.tv_nsec + 20'000'000 + i * apart_ns;
        itimerspec when{};
        when.it_value = {now.tv_sec + at / 1'000'000'000, at % 1'000'000'000};
        timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, nullptr);
    }
}

[[gnu::constructor]] static void leave()
{
    set_timers();
    cpu_set_t other;
    CPU_ZERO(&other);
    CPU_SET((sched_getcpu() + 1) % 2, &other);
    sched_setaffinity(0, sizeof other, &other);
}

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    honest(a, x, y);
}
