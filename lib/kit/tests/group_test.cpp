#include "kit/group.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <functional>
#include <memory>
#include <set>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace std::chrono_literals;

constexpr int nobody = 64'190; // a user of no process

/// All that can be had here; nobody but root makes cgroups.
std::vector<kit::Freezer> freezers()
{
    std::vector<kit::Freezer> found;
    for (auto const one : {kit::Freezer::cgroup2, kit::Freezer::cgroup1, kit::Freezer::signals}) {
        if (kit::works(one)) {
            found.push_back(one);
        }
    }
    return found;
}

/// Works until the process has had so much of a processor.
void work(std::chrono::nanoseconds time)
{
    timespec had{};
    while (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &had) == 0 &&
           std::chrono::nanoseconds{had.tv_nsec} < time) {
    }
}

void spin(std::chrono::nanoseconds time)
{
    for (auto const end = std::chrono::steady_clock::now() + time;
         std::chrono::steady_clock::now() < end;) {
    }
}

/// A number that processes share with the test, zero at first. What a test waits for is counted
/// here: a machine with other work may take any time for it.
class Counter
{
public:
    Counter()
        : number_{new (mmap(nullptr, sizeof(std::atomic<long>), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<long>{0}}
    {
    }
    ~Counter() { munmap(number_, sizeof *number_); }
    Counter(Counter const&) = delete;
    Counter& operator=(Counter const&) = delete;

    void add() const { ++*number_; }
    long value() const { return *number_; }
    /// Waits until it has grown beyond a value.
    void await_more_than(long old) const
    {
        while (value() <= old) {
            usleep(100);
        }
    }

private:
    std::atomic<long>* number_;
};

/// A process of a group, ended in the end.
class Child
{
public:
    Child(kit::Group& group, std::function<void()> const& work) : group_{group}, pid_{fork()}
    {
        if (pid_ == 0) {
            if (group.join()) {
                work();
            }
            _exit(0);
        }
        group.add(pid_);
    }
    ~Child()
    {
        group_.kill();
        waitpid(pid_, nullptr, 0);
    }
    Child(Child const&) = delete;
    Child& operator=(Child const&) = delete;

    pid_t pid() const { return pid_; }

private:
    kit::Group& group_;
    pid_t pid_;
};

/// A timer that sends SIGCONT each millisecond.
void be_woken()
{
    std::signal(SIGCONT, [](int) {});
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGCONT;
    timer_t timer{};
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    itimerspec const often{{0, 1'000'000}, {0, 1'000'000}};
    timer_settime(timer, 0, &often, nullptr);
}

/// Waits until a group has worked: to join one can take milliseconds.
void await_work(kit::Group const& group)
{
    while (group.processor_time() < 1ms) {
        usleep(100);
    }
}

} // namespace

TEST_CASE("what is frozen stands still, goes on when it is thawed, and its time never shrinks")
{
    for (auto const freezer : freezers()) {
        CAPTURE(static_cast<int>(freezer));
        auto const group = kit::make_group(freezer, nobody);
        Child const child{*group, [] { spin(10s); }};
        await_work(*group);
        REQUIRE(group->freeze());
        auto const time = group->processor_time();
        usleep(3000);
        CHECK(group->processor_time() == time);
        CHECK(group->stood_still());
        CHECK(group->processes() == std::set{child.pid()});
        group->thaw();
        while (group->processor_time() == time) {
            usleep(100);
        }
        REQUIRE(group->freeze());
        CHECK(group->processor_time() > time);
    }
}

TEST_CASE("a timer wakes nothing in a frozen cgroup, and who wakes after a signal is seen")
{
    for (auto const freezer : freezers()) {
        CAPTURE(static_cast<int>(freezer));
        auto const group = kit::make_group(freezer, nobody);
        Counter const turns;
        Child const child{*group, [&] {
                              be_woken();
                              for (;;) {
                                  turns.add();
                              }
                          }};
        turns.await_more_than(0);
        bool const frozen = group->freeze();
        long const before = turns.value();
        kill(child.pid(), SIGCONT); // as a timer that is still there
        if (freezer == kit::Freezer::signals) {
            turns.await_more_than(before);
            CHECK_FALSE(group->stood_still());
        } else {
            usleep(10'000);
            CHECK(frozen);
            CHECK(turns.value() == before);
        }
    }
}

TEST_CASE("a parent that waits in vfork and a child that is stopped can be frozen in a cgroup")
{
    for (auto const freezer : freezers()) {
        if (freezer == kit::Freezer::signals) {
            continue;
        }
        CAPTURE(static_cast<int>(freezer));
        auto const group = kit::make_group(freezer, nobody);
        Child const parent{*group, [] {
                               if (fork() == 0) {
                                   raise(SIGSTOP);
                               }
                               if (vfork() == 0) {
                                   spin(10s);
                               }
                           }};
        for (int waited = 0; group->processes().size() < 3 && waited < 5000; ++waited) {
            usleep(1000);
        }
        usleep(1000); // until it waits
        CHECK(group->freeze());
        CHECK(group->processes().size() == 3);
        auto const time = group->processor_time();
        usleep(3000);
        CHECK(group->processor_time() == time);
    }
}

TEST_CASE("a signal does not stop a parent that waits in vfork, and it is not said to be frozen")
{
    auto const group = kit::make_group(kit::Freezer::signals, nobody);
    Counter const children;
    Child const parent{*group, [&] {
                           if (vfork() == 0) {
                               prctl(PR_SET_PDEATHSIG, SIGKILL);
                               children.add();
                               for (;;) {
                                   pause();
                               }
                           }
                       }};
    children.await_more_than(0); // from then on the parent waits
    CHECK_FALSE(group->freeze());
}

TEST_CASE("children that have ended count in a cgroup")
{
    for (auto const freezer : freezers()) {
        if (freezer == kit::Freezer::signals) {
            continue;
        }
        CAPTURE(static_cast<int>(freezer));
        auto const group = kit::make_group(freezer, nobody);
        Counter const ended;
        Child const child{*group, [&] {
                              for (int k = 0; k < 10; ++k) {
                                  if (fork() == 0) {
                                      work(1ms);
                                      _exit(0);
                                  }
                                  wait(nullptr);
                                  ended.add();
                              }
                              pause();
                          }};
        ended.await_more_than(9);
        REQUIRE(group->freeze());
        CHECK(group->processor_time() > kit::time_of(group->processes()));
    }
}

TEST_CASE("what is frozen can be ended")
{
    for (auto const freezer : freezers()) {
        CAPTURE(static_cast<int>(freezer));
        auto const group = kit::make_group(freezer, nobody);
        auto const child = std::make_unique<Child>(*group, [] { spin(10s); });
        await_work(*group);
        REQUIRE(group->freeze());
        group->kill();
        int status = 0;
        CHECK(waitpid(child->pid(), &status, 0) == child->pid());
        CHECK(WTERMSIG(status) == SIGKILL);
    }
}
