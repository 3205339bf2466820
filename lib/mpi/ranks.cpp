#include "mpi/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

namespace mpi {

namespace {

using std::chrono::steady_clock;

constexpr auto patience = std::chrono::seconds{2};

/// Waits until a request is done or the time is over; returns whether it is done. It sleeps in
/// between: MPI itself would keep the core busy, which others need whose turn it is to measure.
bool is_done_by(MPI_Request& request, steady_clock::time_point deadline)
{
    auto pause = std::chrono::microseconds{10};
    int done = 0;
    for (;;) {
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done != 0 || steady_clock::now() > deadline) {
            return done != 0;
        }
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, std::chrono::microseconds{4000});
    }
}

double maximum_over(Communicator const& communicator, double value)
{
    double result = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, communicator.handle(), &request),
          "MPI_Iallreduce");
    is_done_by(request, steady_clock::time_point::max());
    return result;
}

} // namespace

Environment::Environment(int& argc, char**& argv)
{
    int provided = 0;
    check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

Environment::~Environment()
{
    MPI_Finalize();
}

std::uint64_t Team::from_root(std::uint64_t value)
{
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibcast(&value, 1, MPI_UINT64_T, 0, communicator_.handle(), &request), "MPI_Ibcast");
    is_done_by(request, steady_clock::time_point::max());
    return value;
}

double Team::maximum(double value)
{
    return maximum_over(communicator_, value);
}

int Team::failed(std::string const& reason)
{
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibarrier(failures_.handle(), &request), "MPI_Ibarrier");
    if (is_done_by(request, steady_clock::now() + patience)) {
        return rank() == 0 ? bench::Team::failed(reason) : 2;
    }
    fmt::print(stderr, "{} (rank {} of {})\n", reason, rank(), size());
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
    return 2;
}

double MaxClock::seconds(std::function<void()> const& batch)
{
    communicator_.barrier();
    return maximum_over(communicator_, bench::HostClock::seconds(batch));
}

} // namespace mpi
