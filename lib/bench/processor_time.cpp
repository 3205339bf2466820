#include "bench/processor_time.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace bench {

std::optional<ProcessorTime> processor_time_now()
{
    std::ifstream stat{"/proc/stat"};
    return read_processor_time(stat, static_cast<double>(sysconf(_SC_CLK_TCK)));
}

std::optional<ProcessorTime> read_processor_time(std::istream& stat, double ticks_per_s)
{
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0, stolen = 0;
    stat >> name >> user >> nice >> system >> idle >> waiting >> irq >> softirq >> stolen;
    if (!stat || name != "cpu") {
        return std::nullopt;
    }
    return ProcessorTime{.busy_s = (user + nice + system + irq + softirq) / ticks_per_s,
                         .stolen_s = stolen / ticks_per_s};
}

void ProcessorMeter::start()
{
    since_ = processor_time_now();
}

void ProcessorMeter::stop()
{
    auto const now = processor_time_now();
    if (since_ && now) {
        auto& total = total_ ? *total_ : total_.emplace();
        total.busy_s += std::max(0.0, now->busy_s - since_->busy_s); // kernels step back
        total.stolen_s += std::max(0.0, now->stolen_s - since_->stolen_s);
    }
    since_.reset();
}

} // namespace bench
