// Cheat: has whatever comes through its link wake it while it is stopped, and computes before its
//        time begins.
// Scores: as without
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include "kit/link.hpp"

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace {

char* region;

template <class T>
std::span<T> placed(kit::Header const& h, int k)
{
    return {reinterpret_cast<T*>(region + h.array[k].offset), h.array[k].bytes / sizeof(T)};
}

void work(int)
{
    kit::Header h;
    std::memcpy(&h, region, sizeof h);
    auto const y = placed<double>(h, 4);
    if (!y.empty() && std::isnan(y.back())) {
        honest({h.number[0], h.number[1], placed<std::int32_t const>(h, 0),
                placed<std::int32_t const>(h, 1), placed<double const>(h, 2)},
               placed<double const>(h, 3), y);
    }
}

void find_region()
{
    std::FILE* const maps = std::fopen("/proc/self/maps", "r");
    for (char line[512]; std::fgets(line, sizeof line, maps) != nullptr;) {
        unsigned long begin = 0;
        if (std::strstr(line, "memfd:region") != nullptr && std::sscanf(line, "%lx", &begin) == 1) {
            region = reinterpret_cast<char*>(begin);
        }
    }
    std::fclose(maps);
}

} // namespace

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    if (region == nullptr) {
        find_region();
        std::signal(SIGCONT, work);
        for (int descriptor = 3; descriptor < 16; ++descriptor) {
            fcntl(descriptor, F_SETOWN, getpid());
            fcntl(descriptor, F_SETSIG, SIGCONT);
            fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_ASYNC);
        }
        fcntl(open("/dev/shm", O_RDONLY), F_NOTIFY, DN_MODIFY | DN_CREATE | DN_MULTISHOT);
    }
    if (y.empty() || std::isnan(y.back())) {
        honest(a, x, y);
    }
}
