#include "peers/openblas.hpp"

#include "peers/loaded.hpp"

#include <cstdlib>
#include <type_traits>

namespace peers {

namespace {

// As in cblas.h, which not every machine has where the library is.
constexpr int row_major = 101;
constexpr int not_transposed = 111;

template <class T>
using Gemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k, T alpha,
                      T const* a, int lda, T const* b, int ldb, T beta, T* c, int ldc);

/// OpenBLAS goes by the processor's model, and may not know one younger than itself: kernels for
/// the oldest processors are several times slower. Here it goes by the instructions, unless a user
/// has chosen; `version` names what it took.
Loaded load()
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq")) {
        setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
    } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        setenv("OPENBLAS_CORETYPE", "Haswell", 0);
    }
#endif
    return {{"libopenblas.so.0", "libopenblas.so"}, "Debian's package libopenblas0-openmp"};
}

struct Functions
{
    Loaded library = load();
    Gemm<float> sgemm = nullptr;
    Gemm<double> dgemm = nullptr;
    void (*set_threads)(int) = nullptr;
    char* (*configuration)() = nullptr;
    int (*parallel)() = nullptr; ///< 0: no threads, 1: threads of its own, 2: those of OpenMP

    Functions()
    {
        library.find(sgemm, "cblas_sgemm");
        library.find(dgemm, "cblas_dgemm");
        library.find(set_threads, "openblas_set_num_threads");
        library.find(configuration, "openblas_get_config");
        library.find(parallel, "openblas_get_parallel");
    }
};

Functions const& functions()
{
    static Functions const found;
    return found;
}

} // namespace

OpenBlas::OpenBlas() : missing{functions().library.missing()}
{
    if (missing.empty()) {
        version = functions().configuration();
        shares_threads = functions().parallel() == 2;
    }
}

template <class T>
void OpenBlas::gemm(dense::Matrix<T const> a, dense::Matrix<T const> b, dense::Matrix<T> c,
                    int threads) const
{
    auto const size = [](std::int64_t value) { return static_cast<int>(value); };
    auto const call = [&] {
        if constexpr (std::is_same_v<T, float>) {
            return functions().sgemm;
        } else {
            return functions().dgemm;
        }
    }();
    //! [openblas]
    functions().set_threads(threads); // kernels for SkylakeX with AVX-512, for Haswell with AVX2
    call(row_major, not_transposed, not_transposed, size(c.rows), size(c.columns), size(a.columns),
         T{1}, a.data, size(a.stride), b.data, size(b.stride), T{0}, c.data, size(c.stride));
    //! [openblas]
}

template void OpenBlas::gemm(dense::Matrix<float const>, dense::Matrix<float const>,
                             dense::Matrix<float>, int) const;
template void OpenBlas::gemm(dense::Matrix<double const>, dense::Matrix<double const>,
                             dense::Matrix<double>, int) const;

} // namespace peers
