#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <sys/types.h>

/// \file
/// The processes of a box, stopped and started, counted and ended together. A process that a signal
/// has stopped can be woken by a timer that it has set before; one in a cgroup that is frozen
/// cannot.

namespace kit {

/// All processes of one box.
class Group
{
public:
    virtual ~Group() = default;

    /// Called by a process that shall belong to it, with all that it will ever start. False where
    /// that cannot be.
    virtual bool join() = 0;

    /// Says of a process that it belongs to it: only needed where nothing else tells.
    virtual void add(pid_t) {}

    /// Stops all. False where one of them still runs in the end, although it was asked again.
    virtual bool freeze() = 0;

    virtual void thaw() = 0;

    /// Ends all, frozen or not. They are gone a little later.
    virtual void kill() = 0;

    virtual std::set<pid_t> processes() const = 0;

    /// The processor time of all that are or were in it; exact while they are frozen.
    virtual std::chrono::nanoseconds processor_time() const = 0;

    /// False where one of them has worked since all were frozen: only signals allow that.
    virtual bool stood_still() const { return true; }
};

/// What holds processes.
enum class Freezer
{
    cgroup2, ///< cgroup.freeze
    cgroup1, ///< the controllers freezer and cpuacct
    signals, ///< SIGSTOP, which those that are stopped can undo: what they do then is seen
};

/// The first of these that a trial shows to work here; the trial takes place once.
Freezer best_freezer();

/// What people call it.
char const* name(Freezer freezer);

/// True where a group can be made, frozen, and timed.
bool works(Freezer freezer);

/// An empty group. Signals find processes by their user where that is not 0, else only those that
/// were added. Throws std::runtime_error with one line where there can be none.
std::unique_ptr<Group> make_group(Freezer freezer, int uid);

/// All processes of a user, also those that nobody has waited for.
std::set<pid_t> processes_of(int uid);

/// Processor time of processes as they run; none of those that have ended.
std::chrono::nanoseconds time_of(std::set<pid_t> const& processes);

} // namespace kit
