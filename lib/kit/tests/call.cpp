#include "kit/box.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

/// Sends the last descriptor of a socket along, whose close waits minutes for a reader.
void send_lingering(int link)
{
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof place;
    int const listener = socket(AF_INET, SOCK_STREAM, 0);
    int const one = socket(AF_INET, SOCK_STREAM, 0);
    bind(listener, reinterpret_cast<sockaddr*>(&place), length);
    listen(listener, 1);
    getsockname(listener, reinterpret_cast<sockaddr*>(&place), &length);
    connect(one, reinterpret_cast<sockaddr*>(&place), length);
    accept(listener, nullptr, nullptr); // and never reads
    linger const minutes{1, 600};
    setsockopt(one, SOL_SOCKET, SO_LINGER, &minutes, sizeof minutes);
    char full[1 << 16] = {};
    while (send(one, full, sizeof full, MSG_DONTWAIT) > 0) {
    }
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof one)] = {};
    std::uint64_t text = 0;
    iovec part{&text, sizeof text};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    auto* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof one);
    std::memcpy(CMSG_DATA(head), &one, sizeof one);
    sendmsg(link, &message, 0);
    close(one);
}

} // namespace

/// What is handed in, for the tests of the judge: MEMWALL_HANDED_IN says what it does.
void kit::call(Part const& part)
{
    auto const y = part.out<double>(4);
    char const* const handed_in = std::getenv("MEMWALL_HANDED_IN");
    auto const is = [&](char const* what) { return std::strcmp(handed_in, what) == 0; };
    if (is("leaves")) {
        std::_Exit(3);
    }
    if (is("stands still")) {
        for (bool volatile stands_still = true; stands_still;) {
        }
    }
    if (is("works for a while") || is("works for a moment")) {
        auto const time = CLOCKS_PER_SEC / (is("works for a while") ? 50 : 1000);
        for (auto const end = std::clock() + time; std::clock() < end;) {
        }
    }
    if (is("prints")) {
        (void)!write(STDOUT_FILENO, "{}\n", 3);
    }
    if (is("writes x")) {
        *part.out<double>(3).data() += 1;
    }
    if (is("writes behind y")) {
        y.data()[y.size()] = 1;
    }
    std::uint64_t const garbage[2] = {};
    constexpr int link = 3; // its first descriptor
    if (is("answers another thing")) {
        (void)!write(link, garbage, sizeof *garbage);
    }
    if (is("answers too much")) {
        (void)!write(link, garbage, sizeof garbage);
    }
    if (is("fills its link")) {
        while (send(link, garbage, sizeof *garbage, MSG_DONTWAIT) > 0) {
        }
    }
    if (is("sends a socket that lingers")) {
        send_lingering(link);
    }
    if (is("closes its link")) {
        close(link);
        pause();
    }
    if (is("does not wait")) {
        fcntl(link, F_SETFL, O_NONBLOCK);
    }
    auto const row_ptr = part.in<std::int32_t>(0);
    auto const col = part.in<std::int32_t>(1);
    auto const values = part.in<double>(2);
    auto const x = part.in<double>(3);
    auto const vectors = x.size() / static_cast<std::size_t>(part.number[1]);
    for (std::int32_t i = 0; i < part.number[0]; ++i) {
        for (std::size_t v = 0; v < vectors; ++v) {
            double sum = 0;
            for (auto p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
                sum += values[p] * x[static_cast<std::size_t>(col[p]) * vectors + v];
            }
            y[static_cast<std::size_t>(i) * vectors + v] = sum;
        }
    }
    if (is("forgets the last") && !y.empty()) {
        y.back() += 1e-3;
    }
}
