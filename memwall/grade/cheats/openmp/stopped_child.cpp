// Cheat: has a child that is stopped, and that a timer wakes to compute what will be asked for.
// Scores: as without: one_thread
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include "kit/link.hpp"

#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <omp.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

char* region;

template <class T>
std::span<T> placed(kit::Header const& h, int k)
{
    return {reinterpret_cast<T*>(region + h.array[k].offset), h.array[k].bytes / sizeof(T)};
}

void work()
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

/// Maps the region as soon as the parent has it.
void find_region(pid_t parent)
{
    for (int descriptor = 3; descriptor < 8 && region == nullptr; ++descriptor) {
        auto const path = "/proc/" + std::to_string(parent) + "/fd/" + std::to_string(descriptor);
        int const file = open(path.c_str(), O_RDWR);
        struct stat about
        {
        };
        if (file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
            auto const bytes = static_cast<std::size_t>(about.st_size);
            void* const found = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            region = found == MAP_FAILED ? nullptr : static_cast<char*>(found);
        }
        close(file);
    }
}

[[gnu::constructor]] void start_child()
{
    omp_set_num_threads(1); // the child is the other process that is allowed
    pid_t const parent = getpid();
    if (fork() != 0) {
        return;
    }
    std::signal(SIGCONT, [](int) {});
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGCONT;
    timer_t timer{};
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    itimerspec const often{{0, 2'000'000}, {0, 2'000'000}};
    timer_settime(timer, 0, &often, nullptr);
    for (;;) {
        raise(SIGSTOP);
        region == nullptr ? find_region(parent) : work();
    }
}

} // namespace

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    if (y.empty() || std::isnan(y.back())) {
        honest(a, x, y);
    }
}
