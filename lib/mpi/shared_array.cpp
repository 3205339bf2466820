#include "mpi/shared_array.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace mpi {

SharedMemory::SharedMemory(Communicator const& communicator, std::size_t bytes)
    : communicator_{communicator}
{
    if (communicator.hosts() > 1) {
        throw std::runtime_error{"ranks on several hosts share no memory"};
    }
    auto const total = communicator.sum(static_cast<std::int64_t>(bytes));
    if (total == 0) {
        return;
    }
    std::byte* base = nullptr;
    check(MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL,
                                  communicator.handle(), &base, &window_),
          "MPI_Win_allocate_shared");
    check(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
    mine_ = {base, bytes};
    std::ranges::fill(mine_, std::byte{}); // this rank touches first what is its own
    all_ = {part(MPI_PROC_NULL).data(), static_cast<std::size_t>(total)}; // MPI: the first part
    check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
    publish();
}

SharedMemory::~SharedMemory()
{
    if (window_ != MPI_WIN_NULL && std::uncaught_exceptions() <= uncaught_) {
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
    }
}

std::span<std::byte> SharedMemory::part(int rank) const
{
    if (window_ == MPI_WIN_NULL) {
        return {};
    }
    std::byte* base = nullptr;
    MPI_Aint bytes = 0;
    int unit = 0;
    check(MPI_Win_shared_query(window_, rank, &bytes, &unit, &base), "MPI_Win_shared_query");
    return {base, static_cast<std::size_t>(bytes)};
}

void SharedMemory::publish() const
{
    if (window_ == MPI_WIN_NULL) {
        return;
    }
    check(MPI_Win_sync(window_), "MPI_Win_sync");
    communicator_.barrier();
    check(MPI_Win_sync(window_), "MPI_Win_sync");
}

} // namespace mpi
