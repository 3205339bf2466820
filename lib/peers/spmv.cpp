#include "peers/spmv.hpp"

#include "peers/adapters.hpp"

namespace peers {

namespace {

template <class T>
[[maybe_unused]] SpmvPeer<T> absent(std::string name, std::string const& remedy)
{
    return {std::move(name), "", "not found when this was built; " + remedy, {}};
}

} // namespace

template <class T>
std::vector<SpmvPeer<T>> spmv_peers([[maybe_unused]] PeerOptions options)
{
    return
    {
#if defined(PEERS_EIGEN)
        eigen<T>(options),
#else
        absent<T>("eigen", "Debian: apt install libeigen3-dev"),
#endif
#if defined(PEERS_LIBRSB)
            librsb<T>(options),
#else
            absent<T>("librsb", "Debian: apt install librsb-dev"),
#endif
#if defined(PEERS_MKL)
            mkl<T>(options), mkl_bsr<T>(options),
#else
            absent<T>("mkl", "just setup-peers"), absent<T>("mkl_bsr", "just setup-peers"),
#endif
    };
}

template std::vector<SpmvPeer<float>> spmv_peers(PeerOptions);
template std::vector<SpmvPeer<double>> spmv_peers(PeerOptions);

} // namespace peers
