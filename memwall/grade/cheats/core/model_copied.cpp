// Cheat: runs the model solution if it can find it.
// Scores: zero: .
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <dlfcn.h>
#include <unistd.h>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    for (auto const* path :
         {"/box/../model/program", "/box/build/model", "/tmp/model", "../model/program"}) {
        if (dlopen(path, RTLD_NOW) != nullptr || access(path, R_OK) == 0) {
            honest(a, x, y); // found
        }
    }
}
