// Cheat: attaches to every process that it can see and stops it.
// Scores: as without
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <csignal>
#include <sys/ptrace.h>
#include <unistd.h>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    for (int pid = 2; pid < 1000; ++pid) {
        ptrace(PTRACE_ATTACH, pid, nullptr, nullptr);
        kill(pid, SIGSTOP);
    }
    kill(getppid(), SIGSTOP);
    honest(a, x, y);
}
