#include "kit/group.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace kit {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr std::chrono::seconds freeze_patience{2};
constexpr std::chrono::milliseconds ask_again{20};
constexpr unsigned look_again_us = 20;
constexpr char const* prefix = "memwall-";

/// Asks until it is done, again and again. False where it is not done in the end.
template <class Ask, class Done>
bool reached(Ask ask, Done done)
{
    auto const end = Clock::now() + freeze_patience;
    while (Clock::now() < end) {
        ask();
        for (auto const again = Clock::now() + ask_again; Clock::now() < again;) {
            if (done()) {
                return true;
            }
            usleep(look_again_us);
        }
    }
    return false;
}

/// What a file holds, as far as it can be read: a process may end meanwhile.
std::string text_of(std::string const& path)
{
    int const file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    std::string text;
    char part[4096];
    for (ssize_t bytes = 0; (bytes = ::read(file, part, sizeof part)) > 0;) {
        text.append(part, static_cast<std::size_t>(bytes));
    }
    close(file);
    return text;
}

/// The names in a folder, as far as they can be read.
std::vector<std::string> names_in(std::string const& folder)
{
    std::vector<std::string> names;
    DIR* const opened = opendir(folder.c_str());
    for (dirent const* entry = nullptr;
         opened != nullptr && (entry = readdir(opened)) != nullptr;) {
        if (entry->d_name[0] != '.') {
            names.emplace_back(entry->d_name);
        }
    }
    if (opened != nullptr) {
        closedir(opened);
    }
    return names;
}

std::vector<std::string> split(std::string const& line, char separator)
{
    std::vector<std::string> words;
    std::istringstream stream{line};
    for (std::string word; std::getline(stream, word, separator);) {
        words.push_back(word);
    }
    return words;
}

bool contains(std::string const& list, std::string const& word)
{
    return std::ranges::count(split(list, ','), word) != 0;
}

/// The place of this process in a hierarchy of cgroups: that of a controller of version 1, or of
/// version 2 where none is named. Empty where that is not mounted.
std::string own_place(std::string const& controller)
{
    std::string place;
    for (auto const& line : split(text_of("/proc/self/cgroup"), '\n')) {
        auto const first = line.find(':');
        auto const second = line.find(':', first + 1);
        auto const controllers = line.substr(first + 1, second - first - 1);
        if (controller.empty() ? controllers.empty() : contains(controllers, controller)) {
            place = line.substr(second + 1);
        }
    }
    for (auto const& line : split(text_of("/proc/self/mountinfo"), '\n')) {
        auto const words = split(line, ' ');
        auto const dash = std::ranges::find(words, "-");
        if (words.end() - dash < 4 || words.size() < 5) {
            continue;
        }
        bool const found = controller.empty()
                               ? dash[1] == "cgroup2"
                               : dash[1] == "cgroup" && contains(dash[3], controller);
        if (found) { // a container may see a part of the hierarchy only
            auto const& root = words[3];
            auto const inside =
                root != "/" && place.starts_with(root) ? place.substr(root.size()) : place;
            auto const folder = words[4] + "/" + inside;
            return access(folder.c_str(), F_OK) == 0 ? folder : words[4];
        }
    }
    return {};
}

/// A new cgroup within that of this process, which goes with this.
class Folder
{
public:
    explicit Folder(std::string const& controller)
    {
        static int count = 0;
        auto const parent = own_place(controller);
        remove_leftovers(parent);
        path_ = parent + "/" + prefix + std::to_string(getpid()) + "-" + std::to_string(count++);
        if (parent.empty() || mkdir(path_.c_str(), 0755) != 0) {
            throw std::runtime_error("no cgroup can be made" +
                                     (parent.empty() ? "" : " in " + parent) + ": " +
                                     std::strerror(errno));
        }
    }

    ~Folder()
    {
        reached([&] { rmdir(path_.c_str()); }, [&] { return access(path_.c_str(), F_OK) != 0; });
    }

    Folder(Folder const&) = delete;
    Folder& operator=(Folder const&) = delete;

    bool write(char const* file, char const* text) const
    {
        int const descriptor = open((path_ + "/" + file).c_str(), O_WRONLY | O_CLOEXEC);
        bool const written = ::write(descriptor, text, std::strlen(text)) > 0;
        close(descriptor);
        return written;
    }

    std::string read(char const* file) const { return text_of(path_ + "/" + file); }

    std::set<pid_t> processes() const
    {
        std::istringstream file{read("cgroup.procs")};
        std::set<pid_t> found;
        for (pid_t pid = 0; file >> pid;) {
            found.insert(pid);
        }
        return found;
    }

private:
    /// Removes groups of judges that were killed.
    static void remove_leftovers(std::string const& parent)
    {
        for (auto const& name : names_in(parent)) {
            auto const judge = name.starts_with(prefix) ? std::atoi(&name[strlen(prefix)]) : 0;
            if (judge > 0 && ::kill(judge, 0) != 0 && errno == ESRCH) {
                rmdir((parent + "/" + name).c_str()); // fails where processes are left
            }
        }
    }

    std::string path_;
};

void signal_all(std::set<pid_t> const& processes, int signal)
{
    for (auto const pid : processes) {
        ::kill(pid, signal);
    }
}

class Cgroup2 : public Group
{
public:
    bool join() override { return folder_.write("cgroup.procs", "0"); }

    bool freeze() override
    {
        return reached(
            [&] { folder_.write("cgroup.freeze", "1"); },
            [&] { return folder_.read("cgroup.events").find("frozen 1") != std::string::npos; });
    }

    void thaw() override { folder_.write("cgroup.freeze", "0"); }

    void kill() override
    {
        if (!folder_.write("cgroup.kill", "1")) { // Linux before 5.14
            signal_all(processes(), SIGKILL);
        }
    }

    std::set<pid_t> processes() const override { return folder_.processes(); }

    nanoseconds processor_time() const override
    {
        std::istringstream text{folder_.read("cpu.stat")};
        for (std::pair<std::string, std::int64_t> one; text >> one.first >> one.second;) {
            if (one.first == "usage_usec") {
                return std::chrono::microseconds{one.second};
            }
        }
        throw std::runtime_error("a cgroup tells no processor time");
    }

private:
    Folder folder_{""};
};

class Cgroup1 : public Group
{
public:
    bool join() override
    {
        return freezer_.write("cgroup.procs", "0") && times_.write("cgroup.procs", "0");
    }

    bool freeze() override
    {
        return reached([&] { freezer_.write("freezer.state", "FROZEN"); },
                       [&] { return freezer_.read("freezer.state") == "FROZEN\n"; });
    }

    void thaw() override { freezer_.write("freezer.state", "THAWED"); }

    void kill() override
    {
        signal_all(processes(), SIGKILL); // what is frozen dies as the first thing that it does
        thaw();
    }

    std::set<pid_t> processes() const override { return freezer_.processes(); }

    nanoseconds processor_time() const override
    {
        auto const text = times_.read("cpuacct.usage");
        if (text.empty()) {
            throw std::runtime_error("a cgroup tells no processor time");
        }
        return nanoseconds{std::stoll(text)};
    }

private:
    Folder freezer_{"freezer"};
    Folder times_{"cpuacct"};
};

/// The state of a thread as /proc tells it, or 'X' where there is none any more.
char state(std::string const& thread)
{
    auto const text = text_of(thread + "/stat");
    auto const behind = text.rfind(')');
    return behind == std::string::npos || behind + 2 >= text.size() ? 'X' : text[behind + 2];
}

/// The user of a process as the text of its `status` tells it, or -1.
int user(std::string const& status)
{
    auto const at = status.find("\nUid:");
    return at == std::string::npos ? -1 : std::atoi(&status[at + std::strlen("\nUid:")]);
}

bool is_stopped(pid_t pid)
{
    auto const threads = "/proc/" + std::to_string(pid) + "/task/";
    return std::ranges::all_of(names_in(threads), [&](auto const& thread) {
        return std::strchr("TtXZ", state(threads + thread)) != nullptr;
    });
}

std::optional<nanoseconds> time_of(pid_t pid)
{
    clockid_t clock{};
    timespec time{};
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) {
        return {};
    }
    return std::chrono::seconds{time.tv_sec} + nanoseconds{time.tv_nsec};
}

class Signals : public Group
{
public:
    explicit Signals(int uid) : uid_{uid} {}

    bool join() override { return true; }

    void add(pid_t pid) override { added_.insert(pid); }

    bool freeze() override
    {
        bool const frozen =
            reached([&] { signal_all(processes(), SIGSTOP); }, [&] { return stands(); });
        stopped_ = processes();
        time_ = processor_time();
        return frozen;
    }

    void thaw() override { signal_all(stopped_, SIGCONT); }

    void kill() override { signal_all(processes(), SIGKILL); }

    std::set<pid_t> processes() const override
    {
        auto found = processes_of(uid_);
        std::ranges::copy_if(added_, std::inserter(found, found.end()),
                             [](pid_t pid) { return ::kill(pid, 0) == 0; });
        return found;
    }

    /// Of those that have ended: what it was when one looked last.
    nanoseconds processor_time() const override
    {
        nanoseconds sum{};
        for (auto const pid : processes()) {
            if (auto const time = time_of(pid)) {
                seen_[pid] = *time;
            }
        }
        for (auto const& [pid, time] : seen_) {
            sum += time;
        }
        return sum;
    }

    /// A process that works at this moment is told by its state: the kernel adds to its time only
    /// when it leaves the processor, and at each tick.
    bool stood_still() const override
    {
        return uid_ == 0 || (processes() == stopped_ && std::ranges::all_of(stopped_, is_stopped) &&
                             processor_time() == time_);
    }

private:
    /// All are stopped, none is new, and no clock runs any more: a thread is said to be stopped a
    /// little before it is.
    bool stands() const
    {
        auto const before = processes();
        auto const time = processor_time();
        if (!std::ranges::all_of(before, is_stopped)) {
            return false;
        }
        if (uid_ == 0) {
            return true;
        }
        usleep(look_again_us);
        return processor_time() == time && processes() == before;
    }

    int uid_;
    std::set<pid_t> added_;
    std::set<pid_t> stopped_;
    nanoseconds time_{};
    mutable std::map<pid_t, nanoseconds> seen_;
};

} // namespace

Freezer best_freezer()
{
    static auto const best = works(Freezer::cgroup2)   ? Freezer::cgroup2
                             : works(Freezer::cgroup1) ? Freezer::cgroup1
                                                       : Freezer::signals;
    return best;
}

char const* name(Freezer freezer)
{
    switch (freezer) {
    case Freezer::cgroup2:
        return "cgroup 2";
    case Freezer::cgroup1:
        return "cgroup 1";
    case Freezer::signals:
        break;
    }
    return "signals";
}

bool works(Freezer freezer)
{
    if (freezer == Freezer::signals) {
        return true;
    }
    try {
        auto const group = make_group(freezer, 0);
        pid_t const child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (group->join()) {
                while (getppid() != 0) { // works for ever
                }
            }
            _exit(1);
        }
        auto const ready = [&] {
            return group->processor_time().count() > 0 || waitpid(child, nullptr, WNOHANG) != 0;
        };
        bool held = child > 0 && reached([] {}, ready) && group->freeze();
        auto const time = group->processor_time();
        usleep(1000);
        held = held && group->processor_time() == time && group->processes().contains(child);
        group->kill();
        ::kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        return held;
    } catch (std::runtime_error const&) {
        return false;
    }
}

std::unique_ptr<Group> make_group(Freezer freezer, int uid)
{
    switch (freezer) {
    case Freezer::cgroup2:
        return std::make_unique<Cgroup2>();
    case Freezer::cgroup1:
        return std::make_unique<Cgroup1>();
    case Freezer::signals:
        break;
    }
    return std::make_unique<Signals>(uid);
}

std::set<pid_t> processes_of(int uid)
{
    std::set<pid_t> found;
    if (uid == 0) {
        return found;
    }
    for (auto const& name : names_in("/proc")) {
        auto const pid = std::atoi(name.c_str());
        // The owner of the folder would not do: it is root where a process forbids dumps.
        if (pid > 0 && user(text_of("/proc/" + name + "/status")) == uid) {
            found.insert(pid);
        }
    }
    return found;
}

nanoseconds time_of(std::set<pid_t> const& processes)
{
    nanoseconds sum{};
    for (auto const pid : processes) {
        sum += time_of(pid).value_or(nanoseconds{});
    }
    return sum;
}

} // namespace kit
