#include "mpi/shared_memory.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>

namespace mpi {

template <class T>
SharedArray<T>::SharedArray(Communicator const& communicator, std::size_t count)
    : communicator_{communicator}
{
    if (communicator.hosts() > 1) {
        throw std::runtime_error{"ranks on several hosts share no memory"};
    }
    auto const total = communicator.sum(static_cast<std::int64_t>(count));
    if (total == 0) {
        return;
    }
    T* base = nullptr;
    check(MPI_Win_allocate_shared(static_cast<MPI_Aint>(count * sizeof(T)), 1, MPI_INFO_NULL,
                                  communicator.handle(), &base, &window_),
          "MPI_Win_allocate_shared");
    check(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
    mine_ = {base, count};
    std::ranges::fill(mine_, T{}); // this rank touches first what is its own
    all_ = {part(MPI_PROC_NULL).data(), static_cast<std::size_t>(total)}; // MPI: the first part
    check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
    publish();
}

template <class T>
SharedArray<T>::~SharedArray()
{
    if (window_ != MPI_WIN_NULL && std::uncaught_exceptions() <= uncaught_) {
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
    }
}

template <class T>
std::span<T> SharedArray<T>::part(int rank) const
{
    if (window_ == MPI_WIN_NULL) {
        return {};
    }
    T* base = nullptr;
    MPI_Aint bytes = 0;
    int unit = 0;
    check(MPI_Win_shared_query(window_, rank, &bytes, &unit, &base), "MPI_Win_shared_query");
    return {base, static_cast<std::size_t>(bytes) / sizeof(T)};
}

template <class T>
void SharedArray<T>::publish() const
{
    if (window_ == MPI_WIN_NULL) {
        return;
    }
    check(MPI_Win_sync(window_), "MPI_Win_sync");
    communicator_.barrier();
    check(MPI_Win_sync(window_), "MPI_Win_sync");
}

namespace {

constexpr std::size_t line = 64;
constexpr std::size_t page = 4096;

/// A counter that two ranks share has a cache line to itself.
struct alignas(line) Counter
{
    std::atomic<std::uint64_t> bytes_or_turns;

    static_assert(std::atomic<std::uint64_t>::is_always_lock_free); // else none can be shared

    std::uint64_t get() const { return bytes_or_turns.load(std::memory_order_acquire); }

    /// Returns when it has reached `value`; lets others run where ranks outnumber processors.
    void wait_until(std::uint64_t value) const
    {
        constexpr int patience = 1000;
        for (int looks = 0; get() < value; ++looks) {
            if (looks >= patience) {
                std::this_thread::yield();
            }
        }
    }
};

std::size_t rounded_up(std::size_t bytes, std::size_t multiple)
{
    return (bytes + multiple - 1) / multiple * multiple;
}

} // namespace

/// What a rank's part of the memory begins with; its two boxes follow.
template <class T>
struct Mailbox<T>::Head
{
    Counter turns_read;   ///< by this rank
    Counter delivered[2]; ///< bytes since the beginning in even and odd turns, by the others
};

template <class T>
Mailbox<T>::Mailbox(Communicator const& host, std::size_t count)
    : memory_{host, rounded_up(sizeof(Head) + 2 * rounded_up(count * sizeof(T), line), page) +
                        page}, // whole pages, and as much as the first of them may be away
      rank_{host.rank()}
{
    for (int rank = 0; rank < host.size(); ++rank) {
        auto const part = memory_.part(rank); // begins anywhere
        // Memory is shared by pages, so all ranks find the same.
        auto const address = reinterpret_cast<std::uintptr_t>(part.data());
        parts_.push_back(part.subspan(rounded_up(address, page) - address, part.size() - page));
    }
}

template <class T>
void Mailbox<T>::begin()
{
    head(rank_).turns_read.bytes_or_turns.store(turn_, std::memory_order_release);
    ++turn_;
}

template <class T>
std::span<T> Mailbox<T>::open(int rank) const
{
    if (turn_ > 2) {
        head(rank).turns_read.wait_until(turn_ - 2);
    }
    return box(rank, turn_);
}

template <class T>
void Mailbox<T>::deliver(int rank, std::size_t count) const
{
    auto& counter = head(rank).delivered[turn_ % 2];
    counter.bytes_or_turns.fetch_add(count * sizeof(T), std::memory_order_release);
}

template <class T>
std::span<T const> Mailbox<T>::wait(std::size_t count)
{
    auto const box_of_turn = turn_ % 2;
    before_ = awaited_[box_of_turn];
    awaited_[box_of_turn] += count * sizeof(T);
    head(rank_).delivered[box_of_turn].wait_until(awaited_[box_of_turn]);
    return mine(turn_);
}

template <class T>
std::int64_t Mailbox<T>::delivered_bytes() const
{
    return static_cast<std::int64_t>(head(rank_).delivered[turn_ % 2].get() - before_);
}

template <class T>
typename Mailbox<T>::Head& Mailbox<T>::head(int rank) const
{
    auto* const begin = parts_[static_cast<std::size_t>(rank)].data();
    return *reinterpret_cast<Head*>(begin); // integers, which begin as the zeros they are
}

template <class T>
std::span<T> Mailbox<T>::box(int rank, std::uint64_t turn) const
{
    auto const boxes = parts_[static_cast<std::size_t>(rank)].subspan(sizeof(Head));
    auto const bytes = boxes.size() / 2 / line * line;
    return {reinterpret_cast<T*>(boxes.subspan(turn % 2 * bytes).data()), bytes / sizeof(T)};
}

template class SharedArray<float>;
template class SharedArray<double>;
template class SharedArray<std::byte>;
template class Mailbox<float>;
template class Mailbox<double>;

} // namespace mpi
