#include "bench/team.hpp"

#include "machine/limits.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>

namespace bench {

namespace {

/// The size of the team that a parallel region gets here and now.
int team_size()
{
    int size = 0;
#pragma omp parallel
#pragma omp single
    size = omp_get_num_threads();
    return size;
}

/// The variables of the environment that can make teams smaller, with their values.
std::string culprits()
{
    std::string found;
    for (auto const* name : {"OMP_THREAD_LIMIT", "KMP_DEVICE_THREAD_LIMIT",
                             "KMP_TEAMS_THREAD_LIMIT", "KMP_ALL_THREADS", "KMP_MAX_THREADS"}) {
        if (auto const* value = std::getenv(name)) {
            found += fmt::format("{}{}={}", found.empty() ? ": " : ", ", name, value);
        }
    }
    return found;
}

std::vector<int> sorted(std::vector<int> cpus)
{
    std::ranges::sort(cpus);
    cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end()); // places may overlap
    return cpus;
}

} // namespace

std::vector<int> usable_cpus()
{
    std::vector<int> cpus;
    for (int place = 0; place < omp_get_num_places(); ++place) {
        std::vector<int> members(static_cast<std::size_t>(omp_get_place_num_procs(place)));
        omp_get_place_proc_ids(place, members.data());
        cpus.insert(cpus.end(), members.begin(), members.end());
    }
    return sorted(cpus.empty() ? machine::affinity() : cpus);
}

void leave_place()
{
    auto const cpus = usable_cpus();
    machine::CpuSet set{static_cast<std::size_t>(cpus.back()) + 1};
    std::ranges::for_each(cpus, [&](int cpu) { set.add(cpu); });
    sched_setaffinity(0, set.bytes(), set.get()); // a wish: what forbids it only makes it slower
}

int available_threads()
{
    return machine::at_once(usable_cpus().size());
}

void use_threads(int threads)
{
    omp_set_dynamic(0);
    omp_set_max_active_levels(1); // 0, as OMP_MAX_ACTIVE_LEVELS may say, would be no team at all
    omp_set_num_threads(threads);
    if (auto const team = team_size(); team != threads) {
        throw std::runtime_error{
            fmt::format("--threads {}: OpenMP gives a team of {}{}", threads, team, culprits())};
    }
}

std::vector<int> team_cpus()
{
    std::vector<int> cpus;
    std::mutex mutex;
    std::exception_ptr error; // none may leave the region
#pragma omp parallel
    {
        std::scoped_lock const lock{mutex};
        try {
            auto const own = machine::affinity();
            cpus.insert(cpus.end(), own.begin(), own.end());
        } catch (...) {
            error = std::current_exception();
        }
    }
    if (error) {
        std::rethrow_exception(error);
    }
    return sorted(cpus);
}

} // namespace bench
