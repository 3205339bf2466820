#include "kit/box.hpp"

#include "kit/link.hpp"

#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

namespace kit {
namespace {

/// The end of a socket, and what came through it first.
struct Link
{
    int socket = -1;
    int region = -1;
    Greeting greeting{};
};

/// Connects, says which rank this is, and takes what the judge gives.
bool connected(char const* path, std::int32_t rank, Link& link)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    link.socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (connect(link.socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        write(link.socket, &rank, sizeof rank) != sizeof rank) {
        return false;
    }
    iovec data{&link.greeting, sizeof link.greeting};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof link.region)];
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (recvmsg(link.socket, &message, MSG_CMSG_CLOEXEC) != sizeof link.greeting ||
        CMSG_FIRSTHDR(&message) == nullptr) {
        return false;
    }
    std::memcpy(&link.region, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof link.region);
    return true;
}

/// A system call that no function of a submission can stand in for, or a negative error.
long system_call(long number, long descriptor, void* to, long bytes)
{
#if defined(__x86_64__)
    long result = number;
    asm volatile("syscall"
                 : "+a"(result)
                 : "D"(descriptor), "S"(to), "d"(bytes)
                 : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 asm("x8") = number;
    register long x0 asm("x0") = descriptor;
    register void* x1 asm("x1") = to;
    register long x2 asm("x2") = bytes;
    asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#else
    return syscall(number, descriptor, to, bytes);
#endif
}

} // namespace

int serve(char const* path, int rank, std::function<void(char*, std::size_t)> const& work)
{
    Link link;
    if (!connected(path, rank, link)) {
        std::perror("box: no judge");
        return 1;
    }
    void* const memory = mmap(nullptr, link.greeting.bytes, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_POPULATE, link.region, 0);
    if (memory == MAP_FAILED) {
        std::perror("box: mmap");
        return 1;
    }
    auto number = link.greeting.number;
    auto const passes = [&](long call) {
        return system_call(call, link.socket, &number, sizeof number) == sizeof number;
    };
    while (passes(SYS_write) && passes(SYS_read)) {
        work(static_cast<char*>(memory), link.greeting.bytes);
    }
    return 0;
}

} // namespace kit
