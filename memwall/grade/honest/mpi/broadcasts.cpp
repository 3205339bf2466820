// Each rank in turn sends its part to all.
#include "spmv.hpp"

#include <algorithm>
#include <mpi.h>
#include <vector>

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
    std::vector<double> all(static_cast<std::size_t>(vectors) * a.columns);
    std::copy(x.begin(), x.end(), all.begin() + vectors * starts[rank]);
    for (int root = 0; root + 1 < static_cast<int>(starts.size()); ++root) {
        MPI_Bcast(all.data() + vectors * starts[root], vectors * (starts[root + 1] - starts[root]),
                  MPI_DOUBLE, root, MPI_COMM_WORLD);
    }
    multiply(a, all.data(), y);
}
