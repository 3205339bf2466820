// Each rank in turn sends its part to all.
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
    std::vector<double> all(static_cast<std::size_t>(vectors) * a.columns);
    std::copy(x.begin(), x.end(), all.begin() + vectors * starts[rank]);
    for (int root = 0; root + 1 < static_cast<int>(starts.size()); ++root) {
        MPI_Bcast(all.data() + vectors * starts[root], vectors * (starts[root + 1] - starts[root]),
                  MPI_DOUBLE, root, MPI_COMM_WORLD);
    }
    for (std::int32_t i = 0; i < a.rows; ++i) {
        multiply_row(a, i, all.data(), y.data());
    }
}
