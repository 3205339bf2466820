#include "peers/adapters.hpp"
#include "peers/fastest.hpp"
#include "peers/mkl_matrix.hpp"

namespace peers {

namespace {

//! [mkl]
template <class T>
SpmvOperator<T> mkl_operator(sparse::CsrView<T> const& a, PeerOptions options)
{
    MklThreads const here{options.threads};
    auto inspected = mkl_csr(a);
    mkl_optimize(inspected);
    Fastest<T> fastest{a, options.tuning};
    fastest.offer(mkl_product<T>(inspected, options.threads));
    fastest.offer(mkl_product<T>(mkl_csr(a), options.threads)); // inspection may make it slower
    return fastest.kept();
}
//! [mkl]

} // namespace

template <class T>
SpmvPeer<T> mkl(PeerOptions options)
{
    start_mkl(options.threads);
    return {"mkl", mkl_version(), "",
            [options](sparse::CsrView<T> const& a) { return mkl_operator<T>(a, options); }};
}

template SpmvPeer<float> mkl(PeerOptions);
template SpmvPeer<double> mkl(PeerOptions);

} // namespace peers
