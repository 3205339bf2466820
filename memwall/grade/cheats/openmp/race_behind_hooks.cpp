// Cheat: answers in the place of ThreadSanitizer what it asks the program.
// Scores: zero: it does not compile
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <unistd.h>

extern "C" char const* __tsan_default_options()
{
    return "report_bugs=0";
}

extern "C" void __tsan_on_report(void*)
{
    _exit(0);
}

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    honest(a, x, y);
}
