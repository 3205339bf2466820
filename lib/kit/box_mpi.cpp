#include "kit/box.hpp"

#include <mpi.h>

#include <sched.h>

namespace {

/// Keeps this rank on a processor of its own, if there is one for each. Ranks that wake each other
/// are put on one, where both may stay for seconds, and all calls take twice as long.
void stay_apart(int rank)
{
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) != ranks) {
        return;
    }
    int processor = 0;
    for (int before = rank; !CPU_ISSET(processor, &all) || before > 0; ++processor) {
        before -= CPU_ISSET(processor, &all) ? 1 : 0;
    }
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(processor, &own);
    sched_setaffinity(0, sizeof own, &own); // a wish: where it is forbidden, calls are only slower
}

} // namespace

/// The process of each rank of a contender: `mpirun -n RANKS box SOCKET`.
int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    stay_apart(rank);
    int const code = kit::serve(argv[1], rank);
    MPI_Finalize();
    return code;
}
