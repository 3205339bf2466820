#include "kit/contender.hpp"

#include "kit/link.hpp"
#include "kit/report.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace kit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int patience_ms = 20'000; // that a whole start may take, and an end
constexpr int look_at_memory_ms = 10;
constexpr int most_descriptors = 253; // of a message
constexpr char const* unstoppable = "it could not be stopped, although it was asked again";

double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Milliseconds of what a start may take; at least 0, as poll takes a negative number for ever.
int patience_left(Clock::time_point start)
{
    return std::max(patience_ms - static_cast<int>(1000 * seconds_since(start)), 0);
}

/// Closes descriptors in a thread of its own: a hand-in may have sent along the last one of a
/// socket that lingers, for as long as it likes.
void close_elsewhere(std::vector<int> descriptors)
{
    std::thread{[descriptors = std::move(descriptors)] {
        std::ranges::for_each(descriptors, close);
    }}.detach();
}

/// As `recv`, of a message without waiting. One that brings descriptors along is no message: it
/// counts as one byte too long.
ssize_t receive(int socket, void* to, std::size_t bytes)
{
    alignas(cmsghdr) char control[CMSG_SPACE(most_descriptors * sizeof(int))];
    iovec text{to, bytes};
    msghdr message{};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    auto const length = recvmsg(socket, &message, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
    std::vector<int> descriptors;
    for (auto* head = length < 0 ? nullptr : CMSG_FIRSTHDR(&message); head != nullptr;
         head = CMSG_NXTHDR(&message, head)) {
        if (head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
            descriptors.resize((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            std::memcpy(descriptors.data(), CMSG_DATA(head), descriptors.size() * sizeof(int));
        }
    }
    if (descriptors.empty()) {
        return length;
    }
    close_elsewhere(std::move(descriptors));
    return static_cast<ssize_t>(bytes) + 1;
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

constexpr std::size_t line_bytes = 64; // of a cache

/// Whether lines can be flushed without each waiting for the one before, as `clflush` does: on an
/// Intel Xeon 10 MB took 0.5 ms in place of 20 to 35.
bool has_clflushopt()
{
#if defined(__x86_64__)
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_CLFLUSHOPT) != 0;
#else
    return false;
#endif
}

/// Writes every line of a range back to memory and out of all caches.
void flush(std::byte* begin, std::size_t bytes)
{
    [[maybe_unused]] static bool const is_unordered = has_clflushopt();
    for (auto* at = begin; at < begin + bytes; at += line_bytes) {
#if defined(__x86_64__)
        if (is_unordered) {
            asm volatile("clflushopt %0" : "+m"(*at));
        } else {
            __builtin_ia32_clflush(at);
        }
#elif defined(__aarch64__)
        asm volatile("dc civac, %0" ::"r"(at) : "memory");
#endif
    }
    std::atomic_thread_fence(std::memory_order_seq_cst); // waits for all of them
}

std::uint64_t unguessable()
{
    std::uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number) {
        throw std::runtime_error("no random numbers");
    }
    return number;
}

double seconds(std::chrono::nanoseconds time)
{
    return std::chrono::duration<double>(time).count();
}

} // namespace

struct Contender::Rank
{
    pid_t pid = 0;
    int socket = -1; ///< this end of it, whose flags the other end cannot change
    std::byte* memory = nullptr;
    std::uint64_t number = 0; ///< the answer that is expected
    bool waits = false;       ///< for that answer
};

Contender::Contender(LaunchSpec entry, int ranks, std::size_t region_bytes)
    : entry_{std::move(entry)}, region_bytes_{region_bytes}, group_{make_group(entry_.freezer(),
                                                                               entry_.uid)}
{
    checked(prctl(PR_SET_CHILD_SUBREAPER, 1), "prctl");
    auto const start = Clock::now();
    int const listener = checked(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), "socket");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, entry_.socket.c_str(), sizeof address.sun_path - 1);
    unlink(address.sun_path);
    checked(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), "bind");
    checked(chmod(address.sun_path, 0600), "chmod");
    auto const owner = entry_.uid == 0 ? getuid() : static_cast<uid_t>(entry_.uid);
    checked(chown(address.sun_path, owner, static_cast<gid_t>(-1)), "chown");
    checked(listen(listener, ranks), "listen");
    try {
        launch(listener);
        ranks_.resize(static_cast<std::size_t>(ranks));
        for (int rank = 0; rank < ranks; ++rank) {
            accept_rank(listener, start);
        }
        auto const fault = wait_for_answers(patience_ms / 1000.0, start);
        if (!fault.empty()) {
            throw std::runtime_error(entry_.name + " did not start: " + fault);
        }
        if (!group_->freeze()) {
            throw std::runtime_error(entry_.name + " did not start: " + unstoppable);
        }
    } catch (...) {
        close(listener);
        end();
        throw;
    }
    close(listener);
    processes_ = group_->processes();
    frozen_time_ = group_->processor_time();
}

Contender::~Contender()
{
    end();
}

void Contender::end()
{
    // What is left of a box counts among the processes of its uid until somebody has waited for it:
    // this process does, as it is the one that orphans come to.
    bool left = launched_ != 0;
    for (auto const start = Clock::now(); left && seconds_since(start) < patience_ms / 1000.0;) {
        if (launched_ != 0) {
            kill(-launched_, SIGKILL);
            kill(launched_, SIGKILL);
        }
        group_->kill();
        if (waitpid(launched_, nullptr, WNOHANG) == launched_) {
            launched_ = 0;
        }
        auto others = processes_of(entry_.uid);
        others.merge(group_->processes());
        others.erase(launched_);
        for (auto const pid : others) {
            kill(pid, SIGKILL);
            waitpid(pid, nullptr, WNOHANG);
        }
        left = launched_ != 0 || !others.empty();
        usleep(left ? 100 : 0);
    }
    for (auto const& rank : ranks_) {
        if (rank.memory != nullptr) {
            munmap(rank.memory, region_bytes_);
            close_elsewhere({rank.socket}); // with what nobody has taken from it
        }
    }
    close(pidfd_);
    close(report_);
}

void Contender::launch(int listener)
{
    std::vector<char*> words;
    for (auto& word : entry_.command) {
        words.push_back(word.data());
    }
    words.push_back(nullptr);
    if (!entry_.sanitized.empty()) {
        report_ = checked(memfd_create("report", MFD_CLOEXEC), "memfd");
    }
    launched_ = checked(fork(), "fork");
    if (launched_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setpgid(0, 0);
        if (!group_->join()) {
            _exit(126);
        }
        int const nothing = open("/dev/null", O_RDWR);
        dup2(nothing, 0);
        // What the judge prints is believed, and device code can print, too: more than disks hold.
        dup2(entry_.uid == 0 && entry_.may_print ? 2 : nothing, 1);
        if (entry_.uid != 0) {
            dup2(nothing, 2);
        }
        if (report_ >= 0) {
            dup2(report_, 2);
        }
        close(listener);
        syscall(SYS_close_range, 3U, ~0U, 0U);
        execvp(words.front(), words.data());
        _exit(127);
    }
    pidfd_ = checked(static_cast<int>(syscall(SYS_pidfd_open, launched_, 0)), "pidfd_open");
}

/// Waits as long as a start may take, and looks at the memory meanwhile. False where none came.
bool Contender::wait_for_any(std::span<pollfd> waited, Clock::time_point start) const
{
    for (int found = 0; found <= 0;) {
        if (is_too_large()) {
            throw std::runtime_error(entry_.name + " did not start: " + too_large());
        }
        auto const left = patience_left(start);
        found = poll(waited.data(), waited.size(),
                     entry_.most_memory == 0 ? left : std::min(left, look_at_memory_ms));
        if (found <= 0 && left == 0) {
            return false;
        }
    }
    return true;
}

void Contender::accept_rank(int listener, Clock::time_point start)
{
    pollfd waited[] = {{listener, POLLIN, 0}, {pidfd_, POLLIN, 0}};
    if (!wait_for_any(waited, start) || (waited[0].revents & POLLIN) == 0) {
        throw std::runtime_error(entry_.name + " did not start: " + how_it_ended());
    }
    int const peer = checked(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC), "accept");
    ucred credentials{};
    socklen_t length = sizeof credentials;
    checked(getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &credentials, &length), "SO_PEERCRED");
    std::int32_t number = -1;
    pollfd word{peer, POLLIN, 0};
    bool const told =
        wait_for_any({&word, 1}, start) && receive(peer, &number, sizeof number) == sizeof number;
    bool const twice = std::ranges::any_of(
        ranks_, [&](auto const& other) { return other.pid == credentials.pid; });
    if (!told || twice || number < 0 || number >= static_cast<std::int32_t>(ranks_.size()) ||
        ranks_[static_cast<std::size_t>(number)].memory != nullptr) {
        close_elsewhere({peer});
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
    auto& rank = ranks_[static_cast<std::size_t>(number)];
    rank = {credentials.pid, peer, static_cast<std::byte*>(mapped), unguessable(), true};
    group_->add(credentials.pid);

    Greeting greeting{region_bytes_, rank.number};
    iovec data{&greeting, sizeof greeting};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof memory)] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    auto* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof memory);
    std::memcpy(CMSG_DATA(header), &memory, sizeof memory);
    auto const sent = sendmsg(peer, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(memory);
    if (sent < 0) {
        throw std::runtime_error(entry_.name + " did not start: it closed its link");
    }
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

/// Asks every rank to answer, once it runs. False where that cannot be.
bool Contender::ask(Call& call)
{
    for (auto& rank : ranks_) {
        std::uint64_t early = 0;
        call.foul = receive(rank.socket, &early, sizeof early) > 0;
        rank.number = unguessable();
        rank.waits = true;
        if (call.foul) {
            call.fault = "it answered before it was asked";
        } else if (send(rank.socket, &rank.number, sizeof rank.number,
                        MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof rank.number) {
            call.fault = why_closed();
        }
        if (!call.fault.empty()) {
            return false;
        }
    }
    return true;
}

/// Returns why not all ranks have answered, or nothing.
std::string Contender::wait_for_answers(double limit_seconds, Clock::time_point start)
{
    while (std::ranges::any_of(ranks_, &Rank::waits)) {
        auto const left = limit_seconds - seconds_since(start);
        if (left <= 0) {
            return too_slow(limit_seconds);
        }
        if (is_too_large()) {
            return too_large();
        }
        std::vector<pollfd> waited{{pidfd_, POLLIN, 0}};
        for (auto const& rank : ranks_) {
            waited.push_back({rank.waits ? rank.socket : -1, POLLIN, 0});
        }
        auto const limit_ms = static_cast<int>(left * 1000) + 1;
        poll(waited.data(), waited.size(),
             entry_.most_memory == 0 ? limit_ms : std::min(limit_ms, look_at_memory_ms));
        for (auto& rank : ranks_) {
            auto const fault = rank.waits ? answer_of(rank) : "";
            if (!fault.empty()) {
                return fault;
            }
        }
        if (waited[0].revents != 0 && std::ranges::any_of(ranks_, &Rank::waits)) {
            return how_it_ended();
        }
    }
    return {};
}

/// Takes the answer of a rank if it is there, and returns what is wrong with it.
std::string Contender::answer_of(Rank& rank) const
{
    std::uint64_t answer = 0;
    auto const bytes = receive(rank.socket, &answer, sizeof answer);
    if (bytes == sizeof answer && answer == rank.number) {
        rank.waits = false;
        return {};
    }
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) {
        return {};
    }
    if (bytes > 0) {
        return "it answered what it was not asked";
    }
    return why_closed();
}

/// A link closes a little before its process has ended.
std::string Contender::why_closed() const
{
    group_->thaw();
    pollfd ended{pidfd_, POLLIN, 0};
    return poll(&ended, 1, patience_ms / 20) == 1 ? how_it_ended() : "it closed its link";
}

std::string Contender::too_slow(double limit_seconds) const
{
    auto const slow = "it took more than " + std::to_string(static_cast<int>(limit_seconds)) + " s";
    if (ranks_.size() == 1) {
        return slow;
    }
    std::string names;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        names += ranks_[rank].waits ? " " + std::to_string(rank) : "";
    }
    return slow + ": of its ranks these did not come back:" + names +
           ". Do they wait for a message that nobody sends, or that is sent in another order?";
}

/// True where its processes fill more memory than they may.
bool Contender::is_too_large() const
{
    if (entry_.most_memory == 0) {
        return false;
    }
    std::int64_t pages = 0;
    for (auto const pid : group_->processes()) {
        std::ifstream file{"/proc/" + std::to_string(pid) + "/statm"};
        std::int64_t size = 0;
        std::int64_t resident = 0;
        file >> size >> resident;
        pages += resident;
    }
    return pages * sysconf(_SC_PAGESIZE) > entry_.most_memory;
}

std::string Contender::too_large() const
{
    return "it fills more than " + std::to_string(entry_.most_memory >> 20) + " MB";
}

void Contender::load(std::vector<Image> const& images)
{
    for (std::size_t rank = 0; rank < images.size(); ++rank) {
        auto const& bytes = images[rank].bytes;
        if (bytes.size() + sizeof(Tail) > region_bytes_) {
            throw std::runtime_error("a problem is larger than the first one allows");
        }
        auto* const memory = ranks_[rank].memory;
        std::memcpy(memory, bytes.data(), bytes.size());
        std::memset(memory + bytes.size(), 0, region_bytes_ - bytes.size()); // keeps nothing
        flush(memory, region_bytes_);
    }
}

Call Contender::call(int processors, double limit_seconds)
{
    Call result;
    if (!group_->stood_still()) {
        result.fault = "it worked while it was stopped";
        result.foul = true;
    } else if (ask(result)) {
        time_call(result, processors, limit_seconds);
    } else {
        group_->kill();
    }
    return result;
}

void Contender::time_call(Call& call, int processors, double limit_seconds)
{
    auto const before = time_of(processes_);
    auto const begin = Clock::now();
    group_->thaw();
    call.fault = wait_for_answers(limit_seconds, begin);
    auto const told = Clock::now() - begin;
    auto const worked = time_of(processes_) - before;
    if (!group_->freeze()) {
        group_->kill();
        call.fault = unstoppable;
    }
    auto const time = std::max(group_->processor_time(), frozen_time_);
    // Counted from freeze to freeze, so that nobody can work between two calls for nothing.
    auto const all = time - std::exchange(frozen_time_, time);
    call.processor = seconds(all);
    call.seconds = seconds(told + std::max(all - worked, std::chrono::nanoseconds{}));
    blame(call, processors);
}

/// Clocks of processors may lag by a tick, so that a call seems to have had what belongs to the one
/// before it. What calls had too much is therefore added up, less what later ones leave unused.
bool Contender::had_too_much(Call const& call, int processors)
{
    constexpr double tick = 0.004;
    excess_ = std::max(0.0, excess_ + call.processor - 1.05 * processors * call.seconds);
    return excess_ > tick;
}

void Contender::blame(Call& call, int processors)
{
    if (entry_.keeps_time) {
        take_time(call);
    } else if (!call.fault.empty() && !entry_.sanitized.empty()) {
        auto const found = finding(report(), entry_.sanitized, call.fault);
        call.fault = found.what.empty() ? call.fault : found.what;
        call.race = found.race;
    } else if (call.fault.empty() && entry_.sanitized.empty() && had_too_much(call, processors)) {
        call.fault = "it used more processor time than " + std::to_string(processors) +
                     (processors == 1 ? " processor has" : " processors have");
        call.foul = true;
    } else if (call.fault.empty() && entry_.uid != 0 &&
               !std::ranges::includes(processes_, group_->processes())) {
        call.fault = "it left a process running";
        call.foul = true;
    }
}

void Contender::take_time(Call& call) const
{
    Tail tail;
    std::memcpy(&tail, ranks_.front().memory + region_bytes_ - sizeof tail, sizeof tail);
    call.seconds = tail.seconds;
    if (tail.fault[0] != '\0') {
        call.fault.assign(tail.fault, strnlen(tail.fault, sizeof tail.fault));
    } else if (call.fault.empty() && !(std::isfinite(tail.seconds) && tail.seconds >= 0)) {
        call.fault = "its time is no number";
        call.seconds = 0;
    }
}

std::string Contender::report() const
{
    constexpr off_t longest = 64 << 10;
    struct stat about
    {
    };
    if (report_ < 0 || fstat(report_, &about) != 0) {
        return {};
    }
    std::string text(static_cast<std::size_t>(std::min(about.st_size, longest)), '\0');
    auto const begin = about.st_size - static_cast<off_t>(text.size());
    auto const bytes = pread(report_, text.data(), text.size(), begin);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
    return text;
}

std::vector<std::byte> Contender::result(std::vector<Image> const& images, std::size_t rank) const
{
    auto const& image = images[rank];
    auto const* const begin = ranks_[rank].memory + image.output;
    return {begin, begin + image.output_bytes};
}

bool Contender::changed_input(std::vector<Image> const& images) const
{
    for (std::size_t rank = 0; rank < images.size(); ++rank) {
        auto const& image = images[rank];
        auto const* memory = ranks_[rank].memory;
        auto const behind = image.output + image.output_bytes;
        if (std::memcmp(memory, image.bytes.data(), image.output) != 0 ||
            std::memcmp(memory + behind, image.bytes.data() + behind,
                        image.bytes.size() - behind) != 0) {
            return true;
        }
    }
    return false;
}

} // namespace kit
