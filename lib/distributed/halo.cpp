#include "distributed/halo.hpp"

#include "sparse/convert.hpp"

#include <algorithm>
#include <utility>

namespace distributed {

namespace {

/// What another rank and this one read of each other.
struct Neighbour
{
    int rank;
    std::vector<std::int32_t> elements; ///< of this rank, that the other one reads
    std::size_t place_there;            ///< where they begin among its ghosts
    std::size_t ghosts;                 ///< elements of it that this rank reads
    std::size_t place;                  ///< where they begin among this rank's ghosts
};

/// How many of `places`, which ascend, each rank owns.
std::vector<int> counts_by_owner(std::vector<std::int64_t> const& places, Partition const& owners)
{
    std::vector<int> counts(static_cast<std::size_t>(owners.ranks()), 0);
    for (auto const place : places) {
        ++counts[static_cast<std::size_t>(owners.owner_of(place))];
    }
    return counts;
}

/// The neighbours of this rank, the next higher one first: if all began with rank 0, all would wait
/// for it.
std::vector<Neighbour> neighbours(mpi::Communicator const& communicator,
                                  std::vector<std::int64_t> const& ghosts, Partition const& owners)
{
    auto const wanted = counts_by_owner(ghosts, owners);
    auto const asked = communicator.exchange_counts(wanted);
    auto const places = mpi::displacements(wanted);
    auto const places_there = communicator.exchange_counts(places);
    std::vector<std::int32_t> elements;
    for (auto const place : communicator.exchange<std::int64_t>(ghosts, wanted, asked)) {
        elements.push_back(sparse::checked_index<std::int32_t>(
            static_cast<std::size_t>(place - owners.begin(communicator.rank()))));
    }
    std::vector<Neighbour> all;
    auto begin = elements.cbegin();
    for (int rank = 0; rank < communicator.size(); ++rank) {
        auto const r = static_cast<std::size_t>(rank);
        auto const end = begin + asked[r];
        if (wanted[r] > 0 || asked[r] > 0) {
            all.push_back({rank,
                           {begin, end},
                           static_cast<std::size_t>(places_there[r]),
                           static_cast<std::size_t>(wanted[r]),
                           static_cast<std::size_t>(places[r])});
        }
        begin = end;
    }
    auto const higher = std::ranges::upper_bound(all, communicator.rank(), {}, &Neighbour::rank);
    std::rotate(all.begin(), higher, all.end());
    return all;
}

/// Writes the chosen elements of `values` to `chosen`, in the order of `elements`.
template <class T>
void gather(std::span<T const> values, std::span<std::int32_t const> elements, std::span<T> chosen)
{
    for (std::size_t k = 0; k < elements.size(); ++k) {
        chosen[k] = values[static_cast<std::size_t>(elements[k])];
    }
}

} // namespace

template <class T>
Halo<T>::Halo(mpi::Communicator const& communicator, std::vector<std::int64_t> const& ghosts,
              Partition const& owners, OnHost on_host)
    : ghosts_{ghosts.size()},
      host_(on_host == OnHost::memory ? communicator.host() : mpi::Communicator{MPI_COMM_SELF}),
      box_{host_, ghosts.size()}
{
    auto const ranks_here = host_.gather<std::int32_t>(communicator.rank());
    for (auto& neighbour : neighbours(communicator, ghosts, owners)) {
        sources_ += neighbour.ghosts > 0 ? 1 : 0;
        auto const here = std::ranges::find(ranks_here, neighbour.rank);
        if (here != ranks_here.end()) {
            written_here_ += neighbour.ghosts;
            if (!neighbour.elements.empty()) {
                readers_.push_back({static_cast<int>(here - ranks_here.begin()),
                                    neighbour.place_there, std::move(neighbour.elements)});
            }
            continue;
        }
        for (int turn = 0; neighbour.ghosts > 0 && turn < 2; ++turn) {
            requests_[turn].receive<T>(communicator,
                                       box_.mine(turn).subspan(neighbour.place, neighbour.ghosts),
                                       neighbour.rank);
        }
        if (!neighbour.elements.empty()) {
            auto const& message = messages_.emplace_back(std::move(neighbour.elements));
            for (auto& requests : requests_) {
                requests.send<T>(communicator, message.values, neighbour.rank);
            }
        }
    }
}

//! [ghosts]
template <class T>
void Halo<T>::start(std::span<T const> mine)
{
    box_.begin();
    for (auto& message : messages_) { // to other hosts
        gather<T>(mine, message.elements, message.values);
    }
    requests().start();
    for (auto const& reader : readers_) { // on this host
        auto const ghosts = box_.open(reader.rank).subspan(reader.place);
        gather<T>(mine, reader.elements, ghosts);
        box_.deliver(reader.rank, reader.elements.size());
    }
}
//! [ghosts]

//! [ghosts_again]
template <class T>
void Halo<T>::start_again()
{
    box_.begin();
    requests().start();
    for (auto const& reader : readers_) { // on this host
        box_.open(reader.rank);
        box_.deliver(reader.rank, reader.elements.size());
    }
}
//! [ghosts_again]

template <class T>
std::span<T const> Halo<T>::finish()
{
    requests().finish();
    return box_.wait(written_here_).first(ghosts_);
}

template <class T>
std::int64_t Halo<T>::received_bytes() const
{
    return requests_[box_.turn() % 2].received_bytes() + box_.delivered_bytes();
}

template class Halo<float>;
template class Halo<double>;

} // namespace distributed
