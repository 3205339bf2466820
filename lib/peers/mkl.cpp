#include "peers/adapters.hpp"
#include "peers/fastest.hpp"
#include "peers/mkl_matrix.hpp"

#include <fmt/format.h>

namespace peers {

void start_mkl(int threads)
{
    static bool const threaded = [threads] {
        mkl_set_interface_layer(MKL_INTERFACE_LP64);
        mkl_set_threading_layer(threads == 1 ? MKL_THREADING_SEQUENTIAL : MKL_THREADING_GNU);
        mkl_set_dynamic(0); // else it takes fewer threads where it thinks that better
        return threads != 1;
    }();
    if (threads != 1 && !threaded) {
        throw std::logic_error{"mkl: this process has begun with one thread, and keeps to it"};
    }
}

std::string mkl_version()
{
    MKLVersion found{};
    mkl_get_version(&found);
    return fmt::format("{}.{}.{} (code for {})", found.MajorVersion, found.MinorVersion,
                       found.UpdateVersion, found.Processor);
}

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
