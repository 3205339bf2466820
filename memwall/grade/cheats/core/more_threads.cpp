// Cheat: uses more processors than one.
// Scores: zero: ended
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <thread>
#include <vector>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    std::vector<std::thread> threads;
    for (std::int32_t v = 0; v < vectors; ++v) {
        threads.emplace_back([=] {
            for (std::int32_t i = 0; i < a.rows; ++i) {
                double sum = 0;
                for (auto p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
                    sum += a.values[p] * x[vectors * a.col[p] + v];
                }
                y[vectors * i + v] = sum;
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
}
