// Cheat: replaces every clock by one that stands still.
// Scores: as without
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <ctime>
#include <sys/time.h>

extern "C" int clock_gettime(clockid_t, timespec* time) noexcept
{
    *time = {};
    return 0;
}
extern "C" int gettimeofday(timeval* time, void*) noexcept
{
    *time = {};
    return 0;
}
extern "C" std::time_t time(std::time_t*) noexcept
{
    return 0;
}

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    honest(a, x, y);
}
