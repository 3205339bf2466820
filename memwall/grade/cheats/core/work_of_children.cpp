// Cheat: lets children do the work, whose processor time nobody looks at.
// Scores: zero: .
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <sys/wait.h>
#include <unistd.h>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    for (std::int32_t v = 0; v < vectors; ++v) {
        pid_t const child = fork();
        if (child == 0) {
            for (std::int32_t i = 0; i < a.rows; ++i) {
                y[vectors * i + v] = 0;
                for (auto p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
                    y[vectors * i + v] += a.values[p] * x[vectors * a.col[p] + v];
                }
            }
            _exit(0);
        }
        waitpid(child, nullptr, 0);
    }
}
