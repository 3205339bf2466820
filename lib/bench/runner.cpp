#include "bench/runner.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace bench {

Runner::Runner(std::string const& path) : socket_{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)}
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    bool const fits = path.size() < sizeof address.sun_path;
    std::copy_n(path.data(), fits ? path.size() : 0, address.sun_path);
    if (!fits || socket_ < 0 ||
        connect(socket_, reinterpret_cast<sockaddr const*>(&address), sizeof address) != 0) {
        auto const why = std::strerror(fits ? errno : ENAMETOOLONG);
        close(socket_);
        throw std::runtime_error{
            fmt::format("--events {}: {}: no runner listens there on this host", path, why)};
    }
}

Runner::~Runner()
{
    close(socket_);
}

void Runner::tell(std::string const& line) const
{
    auto const text = line + "\n";
    for (std::size_t sent = 0; sent < text.size();) {
        auto const count = send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) {
            throw std::runtime_error{"the runner went away"};
        }
        sent += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    }
}

bool Runner::grants() const
{
    for (char letter = 0; letter != '\n';) {
        auto const count = recv(socket_, &letter, 1, 0);
        if (count == 0 || (count < 0 && errno != EINTR)) {
            return false;
        }
    }
    return true;
}

} // namespace bench
