#pragma once

#include <string>

namespace bench {

/// The runner that started this process, at the other end of a socket that it listens on: it hears
/// events and grants turns. Standard input and output belong to what is measured, which may print.
class Runner
{
public:
    /// `path` names the socket. Throws std::runtime_error if nobody listens there.
    explicit Runner(std::string const& path);
    ~Runner();
    Runner(Runner const&) = delete;
    Runner& operator=(Runner const&) = delete;

    /// Sends one line. Throws std::runtime_error if the runner is gone.
    void tell(std::string const& line) const;

    /// Waits for one line; false if the runner is gone.
    bool grants() const;

private:
    int socket_;
};

} // namespace bench
