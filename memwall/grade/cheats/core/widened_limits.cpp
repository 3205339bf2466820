// Cheat: lifts its limits and takes every processor.
// Scores: as without
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <sched.h>
#include <string.h>
#include <sys/resource.h>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    rlimit const all{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_NPROC, &all);
    setrlimit(RLIMIT_CPU, &all);
    cpu_set_t processors;
    memset(&processors, 0xff, sizeof processors);
    sched_setaffinity(0, sizeof processors, &processors);
    setpriority(PRIO_PROCESS, 0, -20);
    honest(a, x, y);
}
