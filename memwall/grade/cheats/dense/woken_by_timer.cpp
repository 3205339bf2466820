// Cheat: has a timer wake it while it is stopped, and computes then what it will be asked for.
// Scores: as without
#include "multiply.hpp"
#define multiply honest
#include "naive.cpp"
#undef multiply

#include "kit/link.hpp"

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

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
    auto const c = placed<double>(h, 2);
    if (!c.empty() && std::isnan(c.back())) {
        honest(h.number[0], h.number[1], h.number[2], placed<double const>(h, 0),
               placed<double const>(h, 1), c);
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

void multiply(std::int32_t m, std::int32_t n, std::int32_t k, std::span<double const> a,
              std::span<double const> b, std::span<double> c)
{
    if (region == nullptr) {
        find_region();
        std::signal(SIGCONT, work);
        sigevent event{};
        event.sigev_notify = SIGEV_SIGNAL;
        event.sigev_signo = SIGCONT;
        timer_t timer{};
        timer_create(CLOCK_MONOTONIC, &event, &timer);
        itimerspec const often{{0, 2'000'000}, {0, 2'000'000}};
        timer_settime(timer, 0, &often, nullptr);
    }
    if (c.empty() || std::isnan(c.back())) {
        honest(m, n, k, a, b, c);
    }
}
