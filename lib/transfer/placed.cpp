#include "transfer/placed.hpp"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace transfer {

Placed::Placed(std::size_t bytes, int node) : bytes_{bytes}
{
    auto* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::system_error{errno, std::generic_category(), "memory of a NUMA node"};
    }
    data_ = static_cast<std::byte*>(memory);
    unsigned long const nodes = 1UL << node;
    if (syscall(SYS_mbind, data_, bytes, MPOL_BIND, &nodes, 8 * sizeof nodes, MPOL_MF_STRICT) !=
        0) {
        auto const code = errno;
        munmap(data_, bytes_);
        throw std::system_error{code, std::generic_category(), "memory of a NUMA node"};
    }
    std::memset(data_, 0, bytes_); // each page gets its place at the first touch
}

Placed::~Placed()
{
    munmap(data_, bytes_);
}

} // namespace transfer
