#include "spmv.hpp"

#include <mpi.h>
#include <vector>

/// One vector after the other: rank 0 collects it, and sends all of it to everybody.
void spmv(Csr const& a, std::span<std::int32_t const> starts, std::span<double const> x,
          std::span<double> y)
{
    std::vector<int> counts;
    for (std::size_t rank = 0; rank + 1 < starts.size(); ++rank) {
        counts.push_back(starts[rank + 1] - starts[rank]);
    }
    std::vector<double> mine(x.size() / vectors);
    std::vector<double> all(static_cast<std::size_t>(a.columns));
    for (std::int32_t v = 0; v < vectors; ++v) {
        for (std::size_t j = 0; j < mine.size(); ++j) {
            mine[j] = x[vectors * j + v];
        }
        MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, all.data(),
                    counts.data(), starts.data(), MPI_DOUBLE, 0, MPI_COMM_WORLD);
        MPI_Bcast(all.data(), a.columns, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (std::int32_t i = 0; i < a.rows; ++i) {
            double sum = 0;
            for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
                sum += a.values[p] * all[a.col[p]];
            }
            y[vectors * i + v] = sum;
        }
    }
}
