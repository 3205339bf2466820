// Cheat: computes when somebody looks at y, which is protected until then.
// Scores: zero: .
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <csignal>
#include <cstdint>
#include <sys/mman.h>

static Csr late_a;
static std::span<double const> late_x;
static std::span<double> late_y;

static void late(int)
{
    auto const page = reinterpret_cast<std::uintptr_t>(late_y.data()) & ~std::uintptr_t{4095};
    mprotect(reinterpret_cast<void*>(page), late_y.size_bytes(), PROT_READ | PROT_WRITE);
    honest(late_a, late_x, late_y);
}

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    late_a = a;
    late_x = x;
    late_y = y;
    signal(SIGSEGV, late);
    auto const page = reinterpret_cast<std::uintptr_t>(y.data()) & ~std::uintptr_t{4095};
    mprotect(reinterpret_cast<void*>(page), y.size_bytes(), PROT_NONE);
}
