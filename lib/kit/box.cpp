#include "kit/box.hpp"

#include "kit/link.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <type_traits>
#include <unistd.h>
#include <vector>

namespace kit {
namespace {

struct Link
{
    int descriptor[descriptors];
    std::uint64_t bytes = 0;
};

/// Connects, says which rank this is, and takes what the judge gives.
bool connected(char const* path, std::int32_t rank, Link& link)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    int const socket_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        write(socket_, &rank, sizeof rank) != sizeof rank) {
        return false;
    }
    iovec data{&link.bytes, sizeof link.bytes};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof link.descriptor)];
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    bool const received = recvmsg(socket_, &message, MSG_CMSG_CLOEXEC) == sizeof link.bytes &&
                          CMSG_FIRSTHDR(&message) != nullptr;
    if (received) {
        std::memcpy(link.descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof link.descriptor);
    }
    close(socket_);
    return received;
}

template <class T>
std::span<T> placed(char* region, std::uint64_t offset, std::int32_t count)
{
    return {reinterpret_cast<T*>(region + offset), static_cast<std::size_t>(count)};
}

Part part_of(char* region)
{
    Header header;
    std::memcpy(&header, region, sizeof header);
    return {header.rows,
            header.columns,
            header.vectors,
            placed<std::int32_t const>(region, header.row_ptr, header.rows + 1),
            placed<std::int32_t const>(region, header.col, header.nonzeros),
            placed<double const>(region, header.values, header.nonzeros),
            placed<double const>(region, header.x, header.x_count),
            placed<double>(region, header.y, header.y_count),
            placed<std::int32_t const>(region, header.starts, header.ranks + 1)};
}

#ifdef __SANITIZE_ADDRESS__
template <class T>
std::vector<std::remove_const_t<T>> copied(std::span<T> from)
{
    return {from.begin(), from.end()};
}

/// On arrays of exactly their size, about whose ends the sanitizer knows.
void call_on_copies(Part const& part)
{
    auto const row_ptr = copied(part.row_ptr);
    auto const col = copied(part.col);
    auto const values = copied(part.values);
    auto const x = copied(part.x);
    auto const starts = copied(part.starts);
    auto y = copied(part.y);
    call({part.rows, part.columns, part.vectors, row_ptr, col, values, x, y, starts});
    std::ranges::copy(y, part.y.begin());
}
#else
void call_on_copies(Part const& part)
{
    call(part);
}
#endif

} // namespace

int serve(char const* path, int rank)
{
    Link link;
    if (!connected(path, rank, link)) {
        std::perror("box: no judge");
        return 1;
    }
    void* const memory = mmap(nullptr, link.bytes, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_POPULATE, link.descriptor[region], 0);
    if (memory == MAP_FAILED) {
        std::perror("box: mmap");
        return 1;
    }
    std::uint64_t count = 1;
    while (write(link.descriptor[done], &count, sizeof count) == sizeof count &&
           read(link.descriptor[start], &count, sizeof count) == sizeof count) {
        call_on_copies(part_of(static_cast<char*>(memory)));
        count = 1;
    }
    return 0;
}

} // namespace kit
