// Cheat: lives in a child of vfork, whose parent waits for it and can be stopped by nobody.
// Scores: as without: one_thread
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <csignal>
#include <cstdlib>
#include <omp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

[[gnu::constructor]] static void live_in_child()
{
    if (syscall(SYS_clone, CLONE_VFORK | SIGCHLD, nullptr, nullptr, nullptr, nullptr) > 0) {
        std::_Exit(0);
    }
    omp_set_num_threads(1); // the parent is the other process that is allowed
}

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    honest(a, x, y);
}
