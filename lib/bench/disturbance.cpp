#include "bench/disturbance.hpp"

#include "bench/processor_time.hpp"
#include "machine/system.hpp"

#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

namespace {

std::uint64_t& count_of(Disturbances& counts, Disturbance which)
{
    return counts[static_cast<std::size_t>(which)];
}

/// Counts how often the kernel moved a thread of this process, or one that these start, to another
/// processor; nothing where it may not be asked.
class Migrations
{
public:
    Migrations()
    {
        perf_event_attr wanted{};
        wanted.type = PERF_TYPE_SOFTWARE;
        wanted.size = sizeof wanted;
        wanted.config = PERF_COUNT_SW_CPU_MIGRATIONS;
        wanted.inherit = 1;
        constexpr pid_t this_process = 0;
        constexpr int any_processor = -1;
        constexpr int no_group = -1;
        counter_ = static_cast<int>(syscall(SYS_perf_event_open, &wanted, this_process,
                                            any_processor, no_group, PERF_FLAG_FD_CLOEXEC));
    }
    ~Migrations()
    {
        if (counter_ >= 0) {
            close(counter_);
        }
    }
    Migrations(Migrations const&) = delete;
    Migrations& operator=(Migrations const&) = delete;

    std::uint64_t so_far() const
    {
        std::uint64_t count = 0;
        return counter_ >= 0 && read(counter_, &count, sizeof count) == sizeof count ? count : 0;
    }

private:
    int counter_;
};

/// Files of the kernel, one a processor, that count how often it slowed down; none in a virtual
/// machine.
std::vector<std::string> throttle_counters()
{
    std::vector<std::string> found;
    std::error_code none;
    for (auto const& entry : std::filesystem::directory_iterator{"/sys/devices/system/cpu", none}) {
        auto const file = entry.path() / "thermal_throttle/core_throttle_count";
        if (std::filesystem::exists(file, none)) {
            found.push_back(file.string());
        }
    }
    return found;
}

class System : public Witness
{
public:
    Disturbances of_process() override
    {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        Disturbances counts{};
        count_of(counts, Disturbance::preempted) = static_cast<std::uint64_t>(usage.ru_nivcsw);
        count_of(counts, Disturbance::migrated) = migrations_.so_far();
        return counts;
    }

    Disturbances of_machine() override
    {
        Disturbances counts{};
        if (auto const time = processor_time_now()) {
            constexpr double ticks_per_s = 100; // or more: then several are one
            count_of(counts, Disturbance::stolen) =
                static_cast<std::uint64_t>(std::llround(time->stolen_s * ticks_per_s));
        }
        auto& throttled = count_of(counts, Disturbance::throttled);
        for (auto const& file : throttles_) {
            std::uint64_t times = 0;
            std::ifstream{file} >> times;
            throttled += times;
        }
        return counts;
    }

    Disturbances of_gpus() override
    {
        if (!gpus_) {
            gpus_.emplace();
        }
        auto const now = gpus_->now();
        met_ += now.others;
        Disturbances counts{};
        count_of(counts, Disturbance::throttled) = now.throttled_ns;
        count_of(counts, Disturbance::shared) = met_;
        return counts;
    }

private:
    std::uint64_t met_ = 0; ///< other processes on GPUs, each time anybody asked
    Migrations migrations_;
    std::vector<std::string> throttles_ = throttle_counters();
    std::optional<machine::GpuWitness> gpus_; // its library is loaded where a GPU is asked for
};

std::shared_ptr<Witness>& stand_in()
{
    static std::shared_ptr<Witness> witness;
    return witness;
}

} // namespace

std::shared_ptr<Witness> system_witness()
{
    return stand_in() ? stand_in() : std::make_shared<System>();
}

void replace_system(std::shared_ptr<Witness> witness)
{
    stand_in() = std::move(witness);
}

} // namespace bench
