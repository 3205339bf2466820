// Parts travel from neighbour to neighbour.
#include "row.hpp"
#include "spmv.hpp"

#include <algorithm>
#include <mpi.h>
#include <vector>

void spmv(Csr const& a, std::span<std::int32_t const> starts, std::span<double const> x,
          std::span<double> y)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    auto const ranks = static_cast<int>(starts.size()) - 1;
    std::vector<double> all(static_cast<std::size_t>(vectors) * a.columns);
    auto const part = [&](int of) { return all.data() + vectors * starts[of]; };
    auto const count = [&](int of) { return vectors * (starts[of + 1] - starts[of]); };
    std::copy(x.begin(), x.end(), part(rank));
    for (int step = 0; step + 1 < ranks; ++step) {
        auto const mine = (rank - step + ranks) % ranks;
        auto const theirs = (mine - 1 + ranks) % ranks;
        MPI_Sendrecv(part(mine), count(mine), MPI_DOUBLE, (rank + 1) % ranks, step, part(theirs),
                     count(theirs), MPI_DOUBLE, (rank - 1 + ranks) % ranks, step, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    for (std::int32_t i = 0; i < a.rows; ++i) {
        multiply_row(a, i, all.data(), y.data());
    }
}
