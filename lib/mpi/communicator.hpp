#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace mpi {

/// Throws std::runtime_error with the name of the call and MPI's own text unless `code` is
/// MPI_SUCCESS.
void check(int code, char const* call);

/// MPI's name for an element type: float, double, char and integers of 32 and 64 bits.
template <class T>
MPI_Datatype datatype()
{
    if constexpr (std::is_same_v<T, float>) {
        return MPI_FLOAT;
    } else if constexpr (std::is_same_v<T, double>) {
        return MPI_DOUBLE;
    } else if constexpr (std::is_same_v<T, char>) {
        return MPI_CHAR;
    } else if constexpr (std::is_same_v<T, std::int32_t>) {
        return MPI_INT32_T;
    } else {
        static_assert(std::is_same_v<T, std::int64_t>, "no MPI type for this element");
        return MPI_INT64_T;
    }
}

/// `count` as MPI takes it; throws `std::length_error` beyond 2^31 - 1.
int checked_count(std::size_t count);

/// Offsets of consecutive parts with `counts` elements; throws `std::length_error` if their sum is
/// beyond 2^31 - 1.
std::vector<int> displacements(std::span<int const> counts);

/// A communicator of its own for the ranks of another one, so that messages of different parts of a
/// program never meet. Errors come back as exceptions; all calls are collective.
class Communicator
{
public:
    explicit Communicator(MPI_Comm parent = MPI_COMM_WORLD) : Communicator{parent, false} {}
    ~Communicator();
    Communicator(Communicator const&) = delete;
    Communicator& operator=(Communicator const&) = delete;

    int rank() const { return rank_; }
    int size() const { return size_; }
    bool is_root() const { return rank_ == 0; }
    MPI_Comm handle() const { return handle_; }

    /// The ranks that share memory with this one, itself included, in the same order.
    Communicator host() const { return Communicator{handle_, true}; }

    /// Groups of ranks that share memory.
    int hosts() const { return sum<std::int32_t>(host().is_root() ? 1 : 0); }

    /// Returns when all ranks have called it.
    void barrier() const { check(MPI_Barrier(handle_), "MPI_Barrier"); }

    /// Sum over all ranks, on every rank.
    template <class T>
    T sum(T value) const
    {
        return reduced(value, MPI_SUM);
    }

    /// Largest value of all ranks, on every rank.
    template <class T>
    T maximum(T value) const
    {
        return reduced(value, MPI_MAX);
    }

    /// True if `value` is true on every rank.
    bool all(bool value) const { return reduced<std::int32_t>(value ? 1 : 0, MPI_MIN) == 1; }

    /// Rank 0's elements, on every rank; all ranks give as many.
    template <class T>
    void broadcast(std::span<T> values) const
    {
        check(MPI_Bcast(values.data(), checked_count(values.size()), datatype<T>(), 0, handle_),
              "MPI_Bcast");
    }

    /// Every rank's value, in the order of ranks, on every rank.
    template <class T>
    std::vector<T> gather(T value) const
    {
        std::vector<T> all(static_cast<std::size_t>(size_));
        check(MPI_Allgather(&value, 1, datatype<T>(), all.data(), 1, datatype<T>(), handle_),
              "MPI_Allgather");
        return all;
    }

    /// `counts[r]` goes to rank r; returns what came from each rank.
    std::vector<int> exchange_counts(std::span<int const> counts) const;

    /// Elements for rank 0 first, then for rank 1, ...: `counts[r]` of them for rank r. Returns
    /// those that came, in the order of the ranks that sent them, `incoming[r]` from rank r.
    template <class T>
    std::vector<T> exchange(std::span<T const> values, std::span<int const> counts,
                            std::span<int const> incoming) const
    {
        auto const out = displacements(counts);
        auto const in = displacements(incoming);
        std::vector<T> received(static_cast<std::size_t>(in.back() + incoming.back()));
        check(MPI_Alltoallv(values.data(), counts.data(), out.data(), datatype<T>(),
                            received.data(), incoming.data(), in.data(), datatype<T>(), handle_),
              "MPI_Alltoallv");
        return received;
    }

    /// Sends elements to a rank that receives as many.
    template <class T>
    void send(std::span<T const> values, int to) const
    {
        check(MPI_Send(values.data(), checked_count(values.size()), datatype<T>(), to, 0, handle_),
              "MPI_Send");
    }

    /// Receives elements from a rank that sends as many.
    template <class T>
    void receive(std::span<T> values, int from) const
    {
        check(MPI_Recv(values.data(), checked_count(values.size()), datatype<T>(), from, 0, handle_,
                       MPI_STATUS_IGNORE),
              "MPI_Recv");
    }

private:
    Communicator(MPI_Comm parent, bool on_this_host);

    template <class T>
    T reduced(T value, MPI_Op operation) const
    {
        T result{};
        check(MPI_Allreduce(&value, &result, 1, datatype<T>(), operation, handle_),
              "MPI_Allreduce");
        return result;
    }

    MPI_Comm handle_ = MPI_COMM_NULL;
    int rank_ = 0;
    int size_ = 1;
};

/// Persistent requests that are started and finished together, as often as need be.
class Requests
{
public:
    Requests() = default;
    ~Requests();
    Requests(Requests const&) = delete;
    Requests& operator=(Requests const&) = delete;

    /// Adds a message of `values` to rank `to`, to be sent at every start.
    template <class T>
    void send(Communicator const& communicator, std::span<T const> values, int to)
    {
        check(MPI_Send_init(values.data(), checked_count(values.size()), datatype<T>(), to, tag,
                            communicator.handle(), &next(false)),
              "MPI_Send_init");
    }

    /// Adds a message from rank `from`, to be received into `values` at every start.
    template <class T>
    void receive(Communicator const& communicator, std::span<T> values, int from)
    {
        check(MPI_Recv_init(values.data(), checked_count(values.size()), datatype<T>(), from, tag,
                            communicator.handle(), &next(true)),
              "MPI_Recv_init");
    }

    /// Begins all messages.
    void start();

    /// Waits for all messages.
    void finish();

    /// Bytes that came between the last start and its finish, as MPI counted them.
    std::int64_t received_bytes() const;

private:
    static constexpr int tag = 1;

    MPI_Request& next(bool is_receive);

    std::vector<MPI_Request> requests_;
    std::vector<MPI_Status> statuses_;
    std::vector<bool> is_receive_;
};

} // namespace mpi
