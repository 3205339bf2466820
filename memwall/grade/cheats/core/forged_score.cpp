// Cheat: prints the best of all results, and writes it to every place where one may be looked for.
// Scores: as without
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <cstdio>
#include <cstdlib>
#include <fstream>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    std::printf("{\"case\": \"stencil\", \"contender\": \"submission\", \"seconds\": 1e-9}\n");
    std::fflush(stdout);
    for (auto const* path :
         {"/box/results.json", "/autograder/results/results.json", "results.json"}) {
        std::ofstream{path} << "{\"score\": 100}";
    }
    std::atexit([] { std::puts("{\"score\": 100}"); });
    honest(a, x, y);
}
