#include "spmv.hpp"

#include <algorithm>
#include <mpi.h>
#include <vector>

/// A good student's: a rank gets what its rows need of x, and no more.
void spmv(Csr const& a, std::span<std::int32_t const> starts, std::span<double const> x,
          std::span<double> y)
{
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    // Columns ascend within a row: its first and last tell which part of x it needs.
    std::int32_t need[2] = {starts[rank], starts[rank + 1]};
    for (std::int32_t i = 0; i < a.rows; ++i) {
        if (a.row_ptr[i] < a.row_ptr[i + 1]) {
            need[0] = std::min(need[0], a.col[a.row_ptr[i]]);
            need[1] = std::max(need[1], a.col[a.row_ptr[i + 1] - 1] + 1);
        }
    }
    std::vector<std::int32_t> needs(2 * static_cast<std::size_t>(ranks));
    MPI_Allgather(need, 2, MPI_INT32_T, needs.data(), 2, MPI_INT32_T, MPI_COMM_WORLD);

    // What others need of mine, and I of theirs: the common part of two ranges.
    static std::vector<double> halo; // kept, as new pages cost more than what is sent
    auto const halo_size = static_cast<std::size_t>(vectors) * (need[1] - need[0]);
    if (halo.size() < halo_size) {
        halo.resize(halo_size);
    }
    std::vector<MPI_Request> requests;
    for (int other = 0; other < ranks; ++other) {
        if (other == rank) {
            continue;
        }
        auto const wanted_from = std::max(need[0], starts[other]);
        auto const wanted = std::min(need[1], starts[other + 1]) - wanted_from;
        if (wanted > 0) {
            MPI_Irecv(halo.data() + vectors * (wanted_from - need[0]), vectors * wanted, MPI_DOUBLE,
                      other, 0, MPI_COMM_WORLD, &requests.emplace_back());
        }
        auto const given_from = std::max(needs[2 * other], starts[rank]);
        auto const given = std::min(needs[2 * other + 1], starts[rank + 1]) - given_from;
        if (given > 0) {
            MPI_Isend(x.data() + vectors * (given_from - starts[rank]), vectors * given, MPI_DOUBLE,
                      other, 0, MPI_COMM_WORLD, &requests.emplace_back());
        }
    }
    std::copy(x.begin(), x.end(), halo.begin() + vectors * (starts[rank] - need[0]));
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);

    double const* const from = halo.data();
    for (std::int32_t i = 0; i < a.rows; ++i) {
        double sums[vectors] = {};
        for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            for (std::int32_t v = 0; v < vectors; ++v) {
                sums[v] += a.values[p] * from[vectors * (a.col[p] - need[0]) + v];
            }
        }
        std::copy_n(sums, vectors, y.data() + vectors * i);
    }
}
