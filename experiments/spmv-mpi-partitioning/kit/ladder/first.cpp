#include "spmv.hpp"

#include <mpi.h>
#include <vector>

/// A first idea: all vectors travel in one message, to everybody at once.
void spmv(Csr const& a, std::span<std::int32_t const> starts, std::span<double const> x,
          std::span<double> y)
{
    std::vector<int> counts;
    std::vector<int> offsets;
    for (std::size_t rank = 0; rank + 1 < starts.size(); ++rank) {
        counts.push_back(vectors * (starts[rank + 1] - starts[rank]));
        offsets.push_back(vectors * starts[rank]);
    }
    std::vector<double> all(static_cast<std::size_t>(a.columns) * vectors);
    MPI_Allgatherv(x.data(), static_cast<int>(x.size()), MPI_DOUBLE, all.data(), counts.data(),
                   offsets.data(), MPI_DOUBLE, MPI_COMM_WORLD);
    for (std::int32_t i = 0; i < a.rows; ++i) {
        double sums[vectors] = {};
        for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            for (std::int32_t v = 0; v < vectors; ++v) {
                sums[v] += a.values[p] * all[vectors * a.col[p] + v];
            }
        }
        for (std::int32_t v = 0; v < vectors; ++v) {
            y[vectors * i + v] = sums[v];
        }
    }
}
