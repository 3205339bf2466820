#pragma once

#include <vector>

namespace bench {

/// Hardware threads that the threads of this process may run on, by the system's numbers,
/// ascending: OpenMP's places where it has some, else the affinity of the process.
std::vector<int> usable_cpus();

/// Lets the calling thread run on all of `usable_cpus`. A thread that is not OpenMP's needs it: it
/// begins where the one that starts it is bound.
void leave_place();

/// How many threads this process can have at work at once: on `usable_cpus`, less what a
/// container's or a job's quota keeps from it.
int available_threads();

/// From now on OpenMP's teams have so many threads, whatever the environment says.
///
/// Throws std::runtime_error, which names the variable that is in the way, where they do not.
void use_threads(int threads);

/// Where OpenMP has put the threads of a team: hardware threads that they may run on, all together,
/// ascending. All that are usable, unless threads are bound to places (OMP_PROC_BIND).
std::vector<int> team_cpus();

} // namespace bench
