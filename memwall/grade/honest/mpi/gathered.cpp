// One collective call for all vectors.
#include "row.hpp"
#include "spmv.hpp"

#include <mpi.h>
#include <vector>

void spmv(Csr const& a, std::span<std::int32_t const> starts, std::span<double const> x,
          std::span<double> y)
{
    std::vector<double> all(static_cast<std::size_t>(vectors) * a.columns);
    std::vector<int> counts;
    std::vector<int> places;
    for (std::size_t rank = 0; rank + 1 < starts.size(); ++rank) {
        counts.push_back(vectors * (starts[rank + 1] - starts[rank]));
        places.push_back(vectors * starts[rank]);
    }
    MPI_Allgatherv(x.data(), static_cast<int>(x.size()), MPI_DOUBLE, all.data(), counts.data(),
                   places.data(), MPI_DOUBLE, MPI_COMM_WORLD);
    for (std::int32_t i = 0; i < a.rows; ++i) {
        multiply_row(a, i, all.data(), y.data());
    }
}
