#include "mpi/mailbox.hpp"

#include <atomic>
#include <thread>

namespace mpi {

namespace {

static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free); // else processes cannot share

/// A counter that two ranks share has a cache line to itself.
constexpr std::size_t line = 64;
constexpr std::size_t page = 4096;

struct alignas(line) Counter
{
    std::uint64_t value = 0;
};

/// What a rank's part of the memory begins with; its two boxes follow.
struct Head
{
    Counter turns_read;   ///< by this rank
    Counter delivered[2]; ///< bytes since the beginning in even and odd turns, by the others
};

Head& head(std::span<std::byte> part)
{
    return *reinterpret_cast<Head*>(part.data()); // integers, which begin as the zeros they are
}

std::uint64_t read(Counter& counter)
{
    return std::atomic_ref{counter.value}.load(std::memory_order_acquire);
}

/// Returns when `counter` has reached `value`; lets others run where ranks outnumber processors.
void wait_until(Counter& counter, std::uint64_t value)
{
    constexpr int patience = 1000;
    for (int looks = 0; read(counter) < value; ++looks) {
        if (looks >= patience) {
            std::this_thread::yield();
        }
    }
}

std::size_t rounded_up(std::size_t bytes, std::size_t multiple)
{
    return (bytes + multiple - 1) / multiple * multiple;
}

/// Bytes of a rank's part: whole pages of its own, and as much as the first of them may be away.
std::size_t part_bytes(std::size_t box_bytes)
{
    return rounded_up(sizeof(Head) + 2 * rounded_up(box_bytes, line), page) + page;
}

/// The pages of a part, which begins anywhere. Memory is shared by pages, so all ranks find the
/// same.
std::span<std::byte> pages_of(std::span<std::byte> part)
{
    auto const address = reinterpret_cast<std::uintptr_t>(part.data());
    return part.subspan(rounded_up(address, page) - address, part.size() - page);
}

} // namespace

template <class T>
Mailbox<T>::Mailbox(Communicator const& host, std::size_t count)
    : memory_{host, part_bytes(count * sizeof(T))}, rank_{host.rank()}
{
    for (int rank = 0; rank < host.size(); ++rank) {
        parts_.push_back(pages_of(memory_.part(rank)));
    }
}

template <class T>
void Mailbox<T>::begin()
{
    std::atomic_ref{head(part(rank_)).turns_read.value}.store(turn_, std::memory_order_release);
    ++turn_;
}

template <class T>
std::span<T> Mailbox<T>::open(int rank) const
{
    if (turn_ > 2) {
        wait_until(head(part(rank)).turns_read, turn_ - 2);
    }
    return box(part(rank), turn_);
}

template <class T>
void Mailbox<T>::deliver(int rank, std::size_t count) const
{
    auto& counter = head(part(rank)).delivered[turn_ % 2];
    std::atomic_ref{counter.value}.fetch_add(count * sizeof(T), std::memory_order_release);
}

template <class T>
std::span<T const> Mailbox<T>::wait(std::size_t count)
{
    auto const box_of_turn = turn_ % 2;
    before_ = awaited_[box_of_turn];
    awaited_[box_of_turn] += count * sizeof(T);
    wait_until(head(part(rank_)).delivered[box_of_turn], awaited_[box_of_turn]);
    return mine(turn_);
}

template <class T>
std::int64_t Mailbox<T>::delivered_bytes() const
{
    return static_cast<std::int64_t>(read(head(part(rank_)).delivered[turn_ % 2]) - before_);
}

template <class T>
std::span<T> Mailbox<T>::box(std::span<std::byte> part, std::uint64_t turn)
{
    auto const boxes = part.subspan(sizeof(Head));
    auto const bytes = boxes.size() / 2 / line * line;
    return {reinterpret_cast<T*>(boxes.subspan(turn % 2 * bytes).data()), bytes / sizeof(T)};
}

template class Mailbox<float>;
template class Mailbox<double>;

} // namespace mpi
