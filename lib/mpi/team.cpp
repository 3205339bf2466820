#include "mpi/team.hpp"

#include "mpi/error.hpp"

namespace mpi {

namespace {

double reduced(double value, MPI_Op operation, MPI_Comm communicator)
{
    double result = 0;
    check(MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, operation, communicator), "MPI_Allreduce");
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

Team::Team(MPI_Comm communicator) : communicator_{communicator}
{
    check(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(communicator_, &size_), "MPI_Comm_size");
}

std::uint64_t Team::from_root(std::uint64_t value)
{
    check(MPI_Bcast(&value, 1, MPI_UINT64_T, 0, communicator_), "MPI_Bcast");
    return value;
}

bool Team::all(bool value)
{
    return reduced(value ? 1 : 0, MPI_MIN, communicator_) == 1;
}
double Team::maximum(double value)
{
    return reduced(value, MPI_MAX, communicator_);
}
double Team::sum(double value)
{
    return reduced(value, MPI_SUM, communicator_);
}

MaxClock::MaxClock(std::unique_ptr<bench::Clock> clock, MPI_Comm communicator)
    : clock_{std::move(clock)}, communicator_{communicator}
{
}

std::string MaxClock::name() const
{
    return "max-over-ranks(" + clock_->name() + ")";
}

double MaxClock::seconds(std::function<void()> const& batch)
{
    check(MPI_Barrier(communicator_), "MPI_Barrier");
    return reduced(clock_->seconds(batch), MPI_MAX, communicator_);
}

double MaxClock::setup_seconds(std::function<void()> const& setup)
{
    check(MPI_Barrier(communicator_), "MPI_Barrier");
    return reduced(clock_->setup_seconds(setup), MPI_MAX, communicator_);
}

} // namespace mpi
