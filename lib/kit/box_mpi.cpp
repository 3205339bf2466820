#include "kit/box.hpp"

#include <mpi.h>

/// The process of each rank of a contender: `mpirun -n RANKS box SOCKET`.
int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int const code = kit::serve(argv[1], rank);
    MPI_Finalize();
    return code;
}
