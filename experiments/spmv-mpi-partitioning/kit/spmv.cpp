#include "spmv.hpp"

#include <mpi.h>
/// BEGIN SOLUTION
#include <algorithm>
#include <vector>

namespace {

/// Elements that every rank reads and writes: as many as `count`, or more, and at a place that the
/// call before did not use, as others may still read there.
double* shared(std::size_t count, MPI_Win& window)
{
    static MPI_Win memory = MPI_WIN_NULL;
    static std::size_t size = 0;
    static double* begin = nullptr;
    static bool second = false;
    if (count > size) { // on all ranks
        if (memory != MPI_WIN_NULL) {
            MPI_Win_free(&memory);
        }
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        auto bytes = static_cast<MPI_Aint>(rank == 0 ? 2 * count * sizeof(double) : 0);
        int unit = sizeof(double);
        MPI_Win_allocate_shared(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &begin, &memory);
        MPI_Win_shared_query(memory, 0, &bytes, &unit, &begin);
        MPI_Win_fence(0, memory);
        size = count;
    }
    window = memory;
    second = !second;
    return begin + (second ? size : 0);
}

} // namespace
/// END SOLUTION

/// Y = A X on all ranks. naive.cpp shows the simplest way.
void spmv(Csr const& a, std::span<std::int32_t const> starts, std::span<double const> x,
          std::span<double> y)
{
    /// BEGIN SOLUTION
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    // Columns ascend within a row: its first and last tell which part of x it needs.
    std::int32_t const begin = starts[rank];
    std::int32_t const end = starts[rank + 1];
    std::int32_t need[2] = {begin, end};
    for (std::int32_t i = 0; i < a.rows; ++i) {
        if (a.row_ptr[i] < a.row_ptr[i + 1]) {
            need[0] = std::min(need[0], a.col[a.row_ptr[i]]);
            need[1] = std::max(need[1], a.col[a.row_ptr[i + 1] - 1] + 1);
        }
    }
    std::vector<std::int32_t> needs(2 * static_cast<std::size_t>(ranks));
    MPI_Allgather(need, 2, MPI_INT32_T, needs.data(), 2, MPI_INT32_T, MPI_COMM_WORLD);

    // What anybody else needs of mine is written once, where all can read it.
    MPI_Win window{};
    double* const all = shared(static_cast<std::size_t>(vectors) * starts.back(), window);
    std::int32_t given[2] = {end, begin};
    for (int other = 0; other < ranks; ++other) {
        if (other != rank) {
            given[0] = std::min(given[0], std::max(needs[2 * other], begin));
            given[1] = std::max(given[1], std::min(needs[2 * other + 1], end));
        }
    }
    if (given[0] < given[1]) {
        std::copy(x.data() + vectors * (given[0] - begin), x.data() + vectors * (given[1] - begin),
                  all + vectors * given[0]);
    }
    MPI_Win_fence(0, window);

    // Of x each element is read where it is, mine or that of others.
    using Four = double __attribute__((vector_size(32), aligned(8), may_alias));
    auto const* own = reinterpret_cast<Four const*>(x.data());
    auto const* others = reinterpret_cast<Four const*>(all);
    auto* to = reinterpret_cast<Four*>(y.data());
    auto const count = static_cast<std::uint32_t>(end - begin);
    for (std::int32_t i = 0; i < a.rows; ++i) {
        Four sum = {};
        for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            auto const mine = static_cast<std::uint32_t>(a.col[p] - begin);
            auto const* from = mine < count ? own + mine : others + a.col[p];
            sum += a.values[p] * *from;
        }
        to[i] = sum;
    }
    /// END SOLUTION
}
