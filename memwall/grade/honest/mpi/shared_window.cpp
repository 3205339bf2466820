// Memory that all ranks share, made anew in each call.
#include "spmv.hpp"

#include <algorithm>
#include <mpi.h>

static void multiply(Csr const& a, double const* x, std::span<double> y)
{
    for (std::int32_t i = 0; i < a.rows; ++i) {
        double sums[vectors] = {};
        for (auto p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            for (std::int32_t v = 0; v < vectors; ++v) {
                sums[v] += a.values[p] * x[vectors * a.col[p] + v];
            }
        }
        for (std::int32_t v = 0; v < vectors; ++v) {
            y[vectors * i + v] = sums[v];
        }
    }
}

void spmv(Csr const& a, std::span<std::int32_t const> starts, std::span<double const> x,
          std::span<double> y)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double* all = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    auto const bytes = rank == 0 ? sizeof(double) * vectors * a.columns : 0;
    MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), sizeof(double), MPI_INFO_NULL,
                            MPI_COMM_WORLD, &all, &window);
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win_shared_query(window, 0, &size, &unit, &all);
    std::copy(x.begin(), x.end(), all + vectors * starts[rank]);
    MPI_Win_fence(0, window);
    multiply(a, all, y);
    MPI_Win_free(&window);
}
