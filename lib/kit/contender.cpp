#include "kit/contender.hpp"

#include "kit/link.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <stdexcept>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int patience_ms = 20'000; // that a start may take

double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

[[noreturn]] void fail(std::string const& what)
{
    throw std::runtime_error(what + ": " + std::strerror(errno));
}

int checked(int result, char const* what)
{
    if (result < 0) {
        fail(what);
    }
    return result;
}

/// Writes every line of a range back to memory and out of all caches.
void flush(std::byte const* begin, std::size_t bytes)
{
    constexpr std::size_t line = 64;
    for (auto const* at = begin; at < begin + bytes; at += line) {
#if defined(__x86_64__)
        __builtin_ia32_clflush(at);
#elif defined(__aarch64__)
        asm volatile("dc civac, %0" ::"r"(at) : "memory");
#endif
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

/// Places arrays one behind the other, with gaps of random length filled with random bytes.
class Layout
{
public:
    explicit Layout(base::Random& random) : random_{random} { gap(); }

    template <class T>
    std::uint64_t place(T const* from, std::size_t count)
    {
        auto const offset = bytes_.size();
        auto const* begin = reinterpret_cast<std::byte const*>(from);
        bytes_.insert(bytes_.end(), begin, begin + count * sizeof(T));
        bytes_.resize((bytes_.size() + 63) / 64 * 64);
        gap();
        return offset;
    }

    std::vector<std::byte> take() { return std::move(bytes_); }

private:
    void gap()
    {
        auto const lines = std::max<std::uint64_t>(2, random_.below(64));
        for (std::uint64_t word = 0; word < lines * 8; ++word) {
            auto const bits = random_.next();
            auto const* begin = reinterpret_cast<std::byte const*>(&bits);
            bytes_.insert(bytes_.end(), begin, begin + sizeof bits);
        }
    }

    base::Random& random_;
    std::vector<std::byte> bytes_;
};

Image image(Instance const& problem, std::vector<std::int32_t> const& starts, std::size_t rank,
            base::Random& random)
{
    auto const& a = problem.a;
    auto const begin = starts[rank];
    auto const end = starts[rank + 1];
    auto const vectors = static_cast<std::size_t>(problem.vectors);
    auto const count = static_cast<std::size_t>(end - begin) * vectors;
    std::vector<std::int32_t> row_ptr(a.row_ptr.begin() + begin, a.row_ptr.begin() + end + 1);
    auto const offset = row_ptr.front();
    std::ranges::for_each(row_ptr, [&](auto& entry) { entry -= offset; });
    auto const nonzeros = static_cast<std::size_t>(row_ptr.back());
    // x is dealt as rows are; one rank has all of it, also where the matrix is not square.
    bool const alone = starts.size() == 2;
    auto const first = static_cast<std::size_t>(begin) * vectors;
    auto const x_count = alone ? problem.x.size() : count;
    std::vector<std::uint64_t> poison(count);
    std::ranges::generate(poison, [&] { return 0x7ff8'0000'0000'0000 | random.next() >> 13; });

    Layout layout{random};
    Header header{};
    header.rows = end - begin;
    header.columns = a.columns;
    header.nonzeros = static_cast<std::int32_t>(nonzeros);
    header.x_count = static_cast<std::int32_t>(x_count);
    header.y_count = static_cast<std::int32_t>(count);
    header.vectors = problem.vectors;
    header.ranks = static_cast<std::int32_t>(starts.size()) - 1;
    header.row_ptr = layout.place(row_ptr.data(), row_ptr.size());
    header.col = layout.place(a.col.data() + offset, nonzeros);
    header.values = layout.place(a.values.data() + offset, nonzeros);
    header.x = layout.place(problem.x.data() + first, x_count);
    header.y = layout.place(poison.data(), count);
    header.starts = layout.place(starts.data(), starts.size());
    Image result{layout.take(), header.y, count, first};
    std::memcpy(result.bytes.data(), &header, sizeof header);
    return result;
}

/// The state of a thread as /proc tells it, or 'X' where there is none any more.
char state(std::filesystem::path const& thread)
{
    std::ifstream file{thread / "stat"};
    std::string text;
    std::getline(file, text);
    auto const behind = text.rfind(')');
    return behind == std::string::npos || behind + 2 >= text.size() ? 'X' : text[behind + 2];
}

} // namespace

struct Contender::Rank
{
    pid_t pid;
    int start;
    std::byte* memory;
};

std::vector<Image> images(Instance const& problem, int ranks, std::uint64_t seed)
{
    base::Random random{seed};
    std::vector<std::int32_t> starts;
    for (int rank = 0; rank <= ranks; ++rank) {
        starts.push_back(static_cast<std::int32_t>(std::int64_t{problem.a.rows} * rank / ranks));
    }
    std::vector<Image> result;
    for (int rank = 0; rank < ranks; ++rank) {
        result.push_back(image(problem, starts, static_cast<std::size_t>(rank), random));
    }
    return result;
}

Contender::Contender(Entry entry, int ranks, std::size_t region_bytes)
    : entry_{std::move(entry)}, region_bytes_{region_bytes}
{
    checked(prctl(PR_SET_CHILD_SUBREAPER, 1), "prctl");
    done_ = checked(eventfd(0, EFD_CLOEXEC), "eventfd");
    int const listener = checked(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), "socket");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, entry_.socket.c_str(), sizeof address.sun_path - 1);
    unlink(address.sun_path);
    checked(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), "bind");
    checked(chmod(address.sun_path, 0666), "chmod");
    checked(listen(listener, ranks), "listen");
    try {
        launch(listener);
        ranks_.resize(static_cast<std::size_t>(ranks));
        for (int rank = 0; rank < ranks; ++rank) {
            accept_rank(listener);
        }
        std::string fault;
        if (!wait_done(ranks_.size(), patience_ms / 1000.0, fault)) {
            throw std::runtime_error(entry_.name + " did not start: " + fault);
        }
    } catch (...) {
        close(listener);
        end();
        throw;
    }
    close(listener);
    processes_.merge(own_processes());
    freeze();
}

Contender::~Contender()
{
    end();
}

void Contender::end()
{
    if (launched_ != 0) {
        kill(-launched_, SIGKILL);
        kill(launched_, SIGKILL);
        signal_all(SIGKILL);
        waitpid(launched_, nullptr, 0);
        // What is left of a box counts among the processes of its uid until somebody has waited for
        // it: this process does, as it is the one that orphans come to.
        for (auto left = own_processes(); !left.empty(); left = own_processes()) {
            for (auto const pid : left) {
                kill(pid, SIGKILL);
                waitpid(pid, nullptr, WNOHANG);
            }
        }
    }
    for (auto const& rank : ranks_) {
        if (rank.memory != nullptr) {
            munmap(rank.memory, region_bytes_);
            close(rank.start);
        }
    }
    close(pidfd_);
    close(done_);
}

void Contender::launch(int listener)
{
    std::vector<char*> words;
    for (auto& word : entry_.command) {
        words.push_back(word.data());
    }
    words.push_back(nullptr);
    launched_ = checked(fork(), "fork");
    if (launched_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setpgid(0, 0);
        if (entry_.uid != 0) {
            int const nothing = open("/dev/null", O_RDWR);
            for (int descriptor = 0; descriptor < 3; ++descriptor) {
                dup2(nothing, descriptor);
            }
        }
        close(listener);
        syscall(SYS_close_range, 3U, ~0U, 0U);
        execvp(words.front(), words.data());
        _exit(127);
    }
    pidfd_ = checked(static_cast<int>(syscall(SYS_pidfd_open, launched_, 0)), "pidfd_open");
}

void Contender::accept_rank(int listener)
{
    pollfd waited[] = {{listener, POLLIN, 0}, {pidfd_, POLLIN, 0}};
    if (poll(waited, 2, patience_ms) <= 0 || (waited[0].revents & POLLIN) == 0) {
        throw std::runtime_error(entry_.name + " did not start: " + how_it_ended());
    }
    int const peer = checked(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC), "accept");
    ucred credentials{};
    socklen_t length = sizeof credentials;
    checked(getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &credentials, &length), "SO_PEERCRED");
    std::int32_t rank = -1;
    pollfd word{peer, POLLIN, 0};
    bool const told = poll(&word, 1, patience_ms) == 1 &&
                      recv(peer, &rank, sizeof rank, MSG_DONTWAIT) == sizeof rank;
    bool const twice = std::ranges::any_of(
        ranks_, [&](auto const& other) { return other.pid == credentials.pid; });
    if (!told || twice || rank < 0 || rank >= static_cast<std::int32_t>(ranks_.size()) ||
        ranks_[static_cast<std::size_t>(rank)].memory != nullptr) {
        close(peer);
        throw std::runtime_error(entry_.name + " took a link that is not its own");
    }

    int const memory = checked(memfd_create("region", MFD_CLOEXEC | MFD_ALLOW_SEALING), "memfd");
    checked(ftruncate(memory, static_cast<off_t>(region_bytes_)), "ftruncate");
    checked(fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), "seals");
    void* const mapped =
        mmap(nullptr, region_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, memory, 0);
    if (mapped == MAP_FAILED) {
        fail("mmap");
    }
    int const start = checked(eventfd(0, EFD_CLOEXEC), "eventfd");
    ranks_[static_cast<std::size_t>(rank)] = {credentials.pid, start,
                                              static_cast<std::byte*>(mapped)};
    processes_.insert(credentials.pid);

    int const given[descriptors] = {memory, start, done_};
    std::uint64_t bytes = region_bytes_;
    iovec data{&bytes, sizeof bytes};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof given)] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    auto* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof given);
    std::memcpy(CMSG_DATA(header), given, sizeof given);
    auto const sent = sendmsg(peer, &message, MSG_NOSIGNAL);
    close(peer);
    close(memory);
    if (sent < 0) {
        throw std::runtime_error(entry_.name + " did not start: it closed its link");
    }
}

void Contender::freeze() const
{
    signal_all(SIGSTOP);
    while (!all_stopped()) {
        usleep(50); // a thread has to run in order to stop
    }
}

void Contender::signal_all(int signal) const
{
    for (auto const pid : processes_) {
        kill(pid, signal);
    }
}

bool Contender::all_stopped() const
{
    return std::ranges::all_of(processes_, [](pid_t pid) {
        std::error_code gone;
        std::filesystem::path const threads = "/proc/" + std::to_string(pid) + "/task";
        for (auto const& thread : std::filesystem::directory_iterator{threads, gone}) {
            auto const now = state(thread.path());
            if (now != 'T' && now != 't' && now != 'X' && now != 'Z') {
                return false;
            }
        }
        return true;
    });
}

std::set<pid_t> Contender::own_processes() const
{
    std::set<pid_t> found;
    if (entry_.uid == 0) {
        return found;
    }
    std::error_code gone;
    for (auto const& entry : std::filesystem::directory_iterator{"/proc", gone}) {
        struct stat status
        {
        };
        auto const pid = std::atoi(entry.path().filename().c_str());
        if (pid > 0 && stat(entry.path().c_str(), &status) == 0 &&
            status.st_uid == static_cast<uid_t>(entry_.uid)) {
            found.insert(pid);
        }
    }
    return found;
}

double Contender::processor_seconds() const
{
    double sum = 0;
    for (auto const pid : processes_) {
        clockid_t clock{};
        timespec time{};
        if (clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &time) == 0) {
            sum += static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
        }
    }
    return sum;
}

std::string Contender::how_it_ended() const
{
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(launched_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0) {
        return "no answer";
    }
    auto const status = info.si_status;
    int const signal = info.si_code != CLD_EXITED ? status : status > 128 ? status - 128 : 0;
    return signal != 0 ? std::string{"it was ended by "} + strsignal(signal)
                       : "it ended with exit code " + std::to_string(status);
}

bool Contender::wait_done(std::size_t ranks, double limit_seconds, std::string& fault)
{
    auto const start = Clock::now();
    for (std::size_t count = 0; count < ranks;) {
        auto const left = limit_seconds - seconds_since(start);
        pollfd waited[] = {{done_, POLLIN, 0}, {pidfd_, POLLIN, 0}};
        if (left <= 0 || poll(waited, 2, static_cast<int>(left * 1000) + 1) == 0) {
            fault = "it took more than " + std::to_string(static_cast<int>(limit_seconds)) + " s";
            return false;
        }
        std::uint64_t more = 0;
        if ((waited[0].revents & POLLIN) != 0 && read(done_, &more, sizeof more) > 0) {
            count += more;
        } else if (waited[1].revents != 0) {
            fault = how_it_ended();
            return false;
        }
    }
    return true;
}

void Contender::load(std::vector<Image> const& images)
{
    for (std::size_t rank = 0; rank < images.size(); ++rank) {
        auto const& bytes = images[rank].bytes;
        if (bytes.size() + sizeof(Tail) > region_bytes_) {
            throw std::runtime_error("a problem is larger than the first one allows");
        }
        std::memcpy(ranks_[rank].memory, bytes.data(), bytes.size());
        flush(ranks_[rank].memory, bytes.size());
    }
}

Call Contender::call(int processors, double limit_seconds)
{
    Call result;
    auto const before = processor_seconds();
    auto const begin = Clock::now();
    signal_all(SIGCONT);
    for (auto const& rank : ranks_) {
        std::uint64_t const one = 1;
        checked(static_cast<int>(write(rank.start, &one, sizeof one)), "write");
    }
    bool const finished = wait_done(ranks_.size(), limit_seconds, result.fault);
    auto const told = seconds_since(begin);
    auto const worked = processor_seconds() - before;
    freeze();
    if (entry_.keeps_time) {
        take_time(result);
        return result;
    }
    if (!finished) {
        return result;
    }
    result.processor = processor_seconds() - before;
    result.seconds = told + (result.processor - worked);
    constexpr double tick = 0.004; // clocks of processors may lag by one
    if (result.processor > 1.05 * processors * result.seconds + tick) {
        result.fault = "it used more processor time than " + std::to_string(processors) +
                       (processors == 1 ? " processor has" : " processors have");
        result.foul = true;
    } else if (entry_.uid != 0 && !std::ranges::includes(processes_, own_processes())) {
        result.fault = "it left a process running";
        result.foul = true;
    }
    return result;
}

void Contender::take_time(Call& call) const
{
    Tail tail;
    std::memcpy(&tail, ranks_.front().memory + region_bytes_ - sizeof tail, sizeof tail);
    call.seconds = tail.seconds;
    if (tail.fault[0] != '\0') {
        call.fault.assign(tail.fault, strnlen(tail.fault, sizeof tail.fault));
    }
}

std::vector<double> Contender::result(std::vector<Image> const& images, std::size_t rank) const
{
    auto const& image = images[rank];
    std::vector<double> y(image.count);
    std::memcpy(y.data(), ranks_[rank].memory + image.y, image.count * sizeof(double));
    return y;
}

bool Contender::changed_input(std::vector<Image> const& images) const
{
    for (std::size_t rank = 0; rank < images.size(); ++rank) {
        auto const& image = images[rank];
        auto const* memory = ranks_[rank].memory;
        auto const behind = image.y + image.count * sizeof(double);
        if (std::memcmp(memory, image.bytes.data(), image.y) != 0 ||
            std::memcmp(memory + behind, image.bytes.data() + behind,
                        image.bytes.size() - behind) != 0) {
            return true;
        }
    }
    return false;
}

} // namespace kit
