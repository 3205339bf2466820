#include "peers/spmv.hpp"

#include "peers/adapters.hpp"

namespace peers {

template <class T>
std::vector<SpmvPeer<T>> spmv_peers([[maybe_unused]] Tuning tuning)
{
    return
    {
#if defined(PEERS_EIGEN)
        eigen<T>(),
#else
        {"eigen", "", "not found when this was built; Debian: apt install libeigen3-dev", {}},
#endif
#if defined(PEERS_LIBRSB)
            librsb<T>(tuning),
#else
            {"librsb", "", "not found when this was built; Debian: apt install librsb-dev", {}},
#endif
#if defined(PEERS_MKL)
            mkl<T>(),
#else
            {"mkl",
             "",
             "not found when this was built; .venv/bin/pip install --no-deps mkl mkl-include, or "
             "Debian non-free: apt install libmkl-dev",
             {}},
#endif
    };
}

template std::vector<SpmvPeer<float>> spmv_peers(Tuning);
template std::vector<SpmvPeer<double>> spmv_peers(Tuning);

} // namespace peers
