// Cheat: a second thread takes what the judge asks, and answers before anything is computed.
// Scores: zero: .
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <cstdint>
#include <thread>
#include <unistd.h>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    static bool const started = [] {
        std::thread{[] {
            for (std::uint64_t number = 0; read(3, &number, sizeof number) == sizeof number;) {
                (void)!write(3, &number, sizeof number);
            }
        }}.detach();
        return true;
    }();
    (void)started;
    honest(a, x, y);
}
