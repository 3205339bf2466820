#include "distributed/halo.hpp"

#include "sparse/convert.hpp"

namespace distributed {

namespace {

/// How many of `places`, which ascend, each rank owns.
std::vector<int> counts_by_owner(std::vector<std::int64_t> const& places, Partition const& owners)
{
    std::vector<int> counts(static_cast<std::size_t>(owners.ranks()), 0);
    for (auto const place : places) {
        ++counts[static_cast<std::size_t>(owners.owner_of(place))];
    }
    return counts;
}

} // namespace

template <class T>
Halo<T>::Halo(mpi::Communicator const& communicator, std::vector<std::int64_t> const& ghosts,
              Partition const& owners)
    : ghosts_(ghosts.size())
{
    auto const wanted = counts_by_owner(ghosts, owners);
    auto const asked = communicator.exchange_counts(wanted);
    for (auto const place : communicator.exchange<std::int64_t>(ghosts, wanted, asked)) {
        outgoing_.push_back(sparse::checked_index<std::int32_t>(
            static_cast<std::size_t>(place - owners.begin(communicator.rank()))));
    }
    sent_.resize(outgoing_.size());
    std::span<T> ghosts_left{ghosts_};
    std::span<T const> sent_left{sent_};
    for (int rank = 0; rank < communicator.size(); ++rank) {
        auto const from = static_cast<std::size_t>(wanted[static_cast<std::size_t>(rank)]);
        auto const to = static_cast<std::size_t>(asked[static_cast<std::size_t>(rank)]);
        if (from > 0) {
            requests_.receive<T>(communicator, ghosts_left.first(from), rank);
        }
        if (to > 0) {
            requests_.send<T>(communicator, sent_left.first(to), rank);
        }
        ghosts_left = ghosts_left.subspan(from);
        sent_left = sent_left.subspan(to);
    }
}

template <class T>
void Halo<T>::start(std::span<T const> mine)
{
    for (std::size_t k = 0; k < outgoing_.size(); ++k) {
        sent_[k] = mine[static_cast<std::size_t>(outgoing_[k])];
    }
    requests_.start();
}

template <class T>
std::span<T const> Halo<T>::finish()
{
    requests_.finish();
    return ghosts_;
}

template class Halo<float>;
template class Halo<double>;

} // namespace distributed
