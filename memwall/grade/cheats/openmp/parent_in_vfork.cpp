// Cheat: lives in a child of vfork, whose parent waits for it and can be stopped by nobody.
// Scores: as without
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <cstdlib>
#include <sys/syscall.h>
#include <unistd.h>

/// Its stack is not that of the parent, which waits until this ends.
[[gnu::constructor]] static void live_in_child()
{
    if (syscall(SYS_vfork) > 0) {
        std::_Exit(0);
    }
}

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    honest(a, x, y);
}
