#pragma once

#include <istream>
#include <optional>

namespace bench {

/// Time of all processors of this machine together, in seconds.
struct ProcessorTime
{
    double busy_s = 0;   ///< spent in programs and in the kernel
    double stolen_s = 0; ///< asked for and not had: a virtual machine's host gave it to others
};

/// Time since the machine was started, as the first line of /proc/stat has it in `ticks_per_s`
/// (proc(5)); nothing if `stat` does not begin with such a line.
std::optional<ProcessorTime> read_processor_time(std::istream& stat, double ticks_per_s);

/// Time up to now; nothing where the kernel does not tell.
std::optional<ProcessorTime> processor_time_now();

/// Adds up what the processors of this machine do while it runs, for whatever program. Says nothing
/// where the kernel does not. Time comes in ticks of a hundredth of a second: only long sums of it
/// mean something.
class ProcessorMeter
{
public:
    void start();
    void stop();
    std::optional<ProcessorTime> const& total() const { return total_; }

private:
    std::optional<ProcessorTime> since_;
    std::optional<ProcessorTime> total_;
};

} // namespace bench
