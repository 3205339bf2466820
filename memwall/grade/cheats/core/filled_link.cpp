// Cheat: fills every descriptor that it has, so that nobody can write to it any more.
// Scores: zero: not asked
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <cstdint>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    honest(a, x, y);
    for (int descriptor = 3; descriptor < 16; ++descriptor) {
        std::uint64_t const most = UINT64_MAX - 1; // of a counter
        while (send(descriptor, &most, sizeof most, MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
        }
        int const flags = fcntl(descriptor, F_GETFL);
        fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
        (void)!write(descriptor, &most, sizeof most);
        fcntl(descriptor, F_SETFL, flags);
    }
}
