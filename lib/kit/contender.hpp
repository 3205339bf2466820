#pragma once

#include "kit/problem.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

namespace kit {

/// The bytes of a region as a judge wants them before a call, and where in it y is.
struct Image
{
    std::vector<std::byte> bytes;
    std::size_t y;     ///< offset
    std::size_t count; ///< elements of y that belong to this rank
    std::size_t first; ///< element of the whole y
};

/// The images of all ranks: rows dealt evenly, arrays at other places each time, y poisoned with
/// numbers that are none.
std::vector<Image> images(Instance const& problem, int ranks, std::uint64_t seed);

/// How a contender is started.
struct Entry
{
    std::string name;
    bool keeps_time;    ///< its host code is the kit's, which tells the time of a call
    int uid;            ///< its own uid in its sandbox; 0: none, it is trusted with everything
    std::string socket; ///< where the judge waits for it
    std::vector<std::string> command;
};

/// What a call was.
struct Call
{
    double seconds = 0;   ///< from before it may run until it says that it is done, and then what
                          ///< it works on until it is frozen
    double processor = 0; ///< seconds that its threads and processes have worked
    std::string fault;    ///< empty, or why there is no result
    bool foul = false;    ///< the fault is against the rules, and no mere mistake
};

/// A contender that runs, frozen but during its calls, in processes of its own.
class Contender
{
public:
    /// Starts it and waits until all ranks are ready. Throws std::runtime_error with one line where
    /// that does not happen.
    Contender(Entry entry, int ranks, std::size_t region_bytes);
    ~Contender();
    Contender(Contender const&) = delete;
    Contender& operator=(Contender const&) = delete;

    std::string const& name() const { return entry_.name; }

    /// Writes the images to its regions and out of every cache.
    void load(std::vector<Image> const& images);

    /// One call with what was loaded, on at most so many processors.
    Call call(int processors, double limit_seconds);

    /// The results of a rank in the call before.
    std::vector<double> result(std::vector<Image> const& images, std::size_t rank) const;

    /// True where it changed something of its regions that is not y.
    bool changed_input(std::vector<Image> const& images) const;

private:
    struct Rank;

    void launch(int listener);
    void accept_rank(int listener);
    void freeze() const;
    void signal_all(int signal) const;
    bool all_stopped() const;
    std::set<pid_t> own_processes() const;
    void take_time(Call& call) const;
    double processor_seconds() const;
    bool wait_done(std::size_t ranks, double limit_seconds, std::string& fault);
    std::string how_it_ended() const;
    void end();

    Entry entry_;
    std::size_t region_bytes_;
    pid_t launched_ = 0;
    int pidfd_ = -1;
    int done_ = -1;
    std::vector<Rank> ranks_;
    std::set<pid_t> processes_; ///< all that belong to it when it is ready
};

} // namespace kit
