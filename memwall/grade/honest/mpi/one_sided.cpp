// Each rank fetches what others show.
#include "row.hpp"
#include "spmv.hpp"

#include <mpi.h>
#include <vector>

void spmv(Csr const& a, std::span<std::int32_t const> starts, std::span<double const> x,
          std::span<double> y)
{
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_create(const_cast<double*>(x.data()), static_cast<MPI_Aint>(x.size_bytes()),
                   sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    std::vector<double> all(static_cast<std::size_t>(vectors) * a.columns);
    MPI_Win_fence(0, window);
    for (int other = 0; other + 1 < static_cast<int>(starts.size()); ++other) {
        auto const count = vectors * (starts[other + 1] - starts[other]);
        MPI_Get(all.data() + vectors * starts[other], count, MPI_DOUBLE, other, 0, count,
                MPI_DOUBLE, window);
    }
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    for (std::int32_t i = 0; i < a.rows; ++i) {
        multiply_row(a, i, all.data(), y.data());
    }
}
