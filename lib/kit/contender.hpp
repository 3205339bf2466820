#pragma once

#include "kit/group.hpp"
#include "kit/image.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <poll.h>
#include <set>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

namespace kit {

/// How a contender is started.
struct LaunchSpec
{
    std::string name;
    bool keeps_time = false;      ///< its host code is the kit's, which tells the time of a call
    int uid = 0;                  ///< its own uid in its sandbox; 0: none, it is trusted with all
    std::string socket;           ///< where the judge waits for it
    bool may_print = false;       ///< what it prints is shown with the judge's errors
    std::string sanitized = {};   ///< the file that a sanitizer's report is about; empty: none
    std::int64_t most_memory = 0; ///< bytes that its processes may fill; 0: something else limits
    std::vector<std::string> command = {};

    /// What holds its processes between calls.
    Freezer freezer() const { return uid == 0 ? Freezer::signals : best_freezer(); }
};

/// What a call was.
struct Call
{
    double seconds = 0;   ///< from before it may run until it says that it is done, and then what
                          ///< it works on until it is frozen
    double processor = 0; ///< seconds that its threads and processes have worked
    std::string fault;    ///< empty, or why there is no result
    bool foul = false;    ///< the fault is against the rules, and no mere mistake
    bool race = false;    ///< the fault is one that a sanitizer for threads has found
};

/// A contender that runs, frozen but during its calls, in processes of its own. Whatever it does to
/// what it shares with the judge is a fault of its own.
class Contender
{
public:
    /// Starts it and waits until all ranks are ready. Throws std::runtime_error with one line where
    /// that does not happen.
    Contender(LaunchSpec entry, int ranks, std::size_t region_bytes);
    ~Contender();
    Contender(Contender const&) = delete;
    Contender& operator=(Contender const&) = delete;

    std::string const& name() const { return entry_.name; }

    /// Writes the images to its regions and out of every cache.
    void load(std::vector<Image> const& images);

    /// One call with what was loaded, on at most so many processors.
    Call call(int processors, double limit_seconds);

    /// What a rank has written in the call before.
    std::vector<std::byte> result(std::vector<Image> const& images, std::size_t rank) const;

    /// True where it changed something of its regions that is not its result.
    bool changed_input(std::vector<Image> const& images) const;

    /// The end of what a sanitizer said.
    std::string report() const;

private:
    struct Rank;

    void launch(int listener);
    void accept_rank(int listener, std::chrono::steady_clock::time_point start);
    bool ask(Call& call);
    std::string wait_for_answers(double limit_seconds, std::chrono::steady_clock::time_point start);
    std::string answer_of(Rank& rank) const;
    std::string why_closed() const;
    std::string too_slow(double limit_seconds) const;
    void time_call(Call& call, int processors, double limit_seconds);
    void blame(Call& call, int processors);
    bool had_too_much(Call const& call, int processors);
    void take_time(Call& call) const;
    bool wait_for_any(std::span<pollfd> waited, std::chrono::steady_clock::time_point start) const;
    bool is_too_large() const;
    std::string too_large() const;
    std::string how_it_ended() const;
    void end();

    LaunchSpec entry_;
    std::size_t region_bytes_;
    std::unique_ptr<Group> group_;
    pid_t launched_ = 0;
    int pidfd_ = -1;
    int report_ = -1;
    std::vector<Rank> ranks_;
    std::set<pid_t> processes_;              ///< all that belong to it when it is ready
    std::chrono::nanoseconds frozen_time_{}; ///< of its processors, when it was frozen last
    double excess_ = 0; ///< seconds of processors that its calls had beyond what they may
};

} // namespace kit
