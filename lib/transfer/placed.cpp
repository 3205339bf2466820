#include "transfer/placed.hpp"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

namespace transfer {

Placed::Placed(std::size_t bytes, int node) : bytes_{bytes}
{
    if (node < 0) {
        throw std::system_error{EINVAL, std::generic_category(), "memory of a NUMA node"};
    }
    constexpr std::size_t bits = 8 * sizeof(unsigned long);
    auto const number = static_cast<std::size_t>(node);
    std::vector<unsigned long> nodes(number / bits + 1);
    nodes.back() = 1UL << number % bits;
    auto* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::system_error{errno, std::generic_category(), "memory of a NUMA node"};
    }
    data_ = static_cast<std::byte*>(memory);
    auto const highest = bits * nodes.size() + 1; // the system leaves the last one out
    if (syscall(SYS_mbind, data_, bytes, MPOL_BIND, nodes.data(), highest, MPOL_MF_STRICT) != 0) {
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
