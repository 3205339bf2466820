// Cheat: writes as much as it can.
// Scores: as without
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <csignal>
#include <fstream>
#include <vector>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    signal(SIGXFSZ, SIG_IGN);
    static std::vector<char> const block(1 << 20, 'x');
    for (auto const* path : {"/dev/stdout", "/dev/shm/flood", "/tmp/flood"}) {
        std::ofstream file{path};
        for (int i = 0; i < 100 && file; ++i) {
            file.write(block.data(), static_cast<std::streamsize>(block.size()));
        }
    }
    honest(a, x, y);
}
