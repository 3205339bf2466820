// Cheat: comes back at once and computes in a thread.
// Scores: zero: ended
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <thread>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    std::thread{[=] { honest(a, x, y); }}.detach();
}
