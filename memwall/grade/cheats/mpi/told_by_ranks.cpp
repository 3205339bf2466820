// Cheat: tells by the ranks that wait for ever what a hidden case is like.
// Scores: zero: took more than
#include "spmv.hpp"

#include <mpi.h>
#include <unistd.h>

void spmv(Csr const&, std::span<std::int32_t const> starts, std::span<double const>,
          std::span<double>)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while (((starts.back() >> rank) & 1) != 0 || rank == 0) {
        pause();
    }
}
