#include "mpi/communicator.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <stdexcept>

namespace mpi {

void check(int code, char const* call)
{
    if (code == MPI_SUCCESS) {
        return;
    }
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    throw std::runtime_error{fmt::format("{}: {}", call, text.data())};
}

int checked_count(std::size_t count)
{
    if (count > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
        throw std::length_error{"a message of more than 2^31 - 1 elements"};
    }
    return static_cast<int>(count);
}

std::vector<int> displacements(std::span<int const> counts)
{
    std::vector<int> offsets;
    std::size_t total = 0;
    for (auto const count : counts) {
        offsets.push_back(checked_count(total));
        total += static_cast<std::size_t>(count);
    }
    checked_count(total);
    return offsets;
}

Communicator::Communicator(MPI_Comm parent, bool on_this_host)
{
    if (on_this_host) {
        check(MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &handle_),
              "MPI_Comm_split_type");
    } else {
        check(MPI_Comm_dup(parent, &handle_), "MPI_Comm_dup");
    }
    check(MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(handle_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(handle_, &size_), "MPI_Comm_size");
}

Communicator::~Communicator()
{
    MPI_Comm_free(&handle_);
}

std::vector<int> Communicator::exchange_counts(std::span<int const> counts) const
{
    if (counts.size() != static_cast<std::size_t>(size_)) {
        throw std::invalid_argument{"an exchange needs a count for each rank"};
    }
    std::vector<int> incoming(counts.size());
    check(MPI_Alltoall(counts.data(), 1, MPI_INT, incoming.data(), 1, MPI_INT, handle_),
          "MPI_Alltoall");
    return incoming;
}

Requests::~Requests()
{
    for (auto& request : requests_) {
        MPI_Request_free(&request);
    }
}

MPI_Request& Requests::next(bool is_receive)
{
    is_receive_.push_back(is_receive);
    statuses_.emplace_back();
    return requests_.emplace_back(MPI_REQUEST_NULL);
}

void Requests::start()
{
    if (!requests_.empty()) {
        check(MPI_Startall(static_cast<int>(requests_.size()), requests_.data()), "MPI_Startall");
    }
}

void Requests::finish()
{
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), statuses_.data()),
          "MPI_Waitall");
}

std::int64_t Requests::received_bytes() const
{
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < statuses_.size(); ++i) {
        if (is_receive_[i]) {
            MPI_Count received = 0;
            check(MPI_Get_elements_x(&statuses_[i], MPI_BYTE, &received), "MPI_Get_elements_x");
            bytes += received;
        }
    }
    return bytes;
}

} // namespace mpi
