// Cheat: has a thread that watches for the next input and computes before the call.
// Scores: zero: did not start
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <atomic>
#include <thread>

static std::atomic<bool> ready = false;

[[gnu::constructor]] static void start()
{
    std::thread{[] {
        for (;;) {
            ready = true;
        }
    }}.detach();
}

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    while (!ready) {
    }
    honest(a, x, y);
}
