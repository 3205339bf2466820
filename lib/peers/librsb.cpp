#include "peers/adapters.hpp"
#include "peers/fastest.hpp"

#include <rsb-config.h>
#include <rsb.h>

#include <memory>
#include <stdexcept>
#include <type_traits>

namespace peers {

namespace {

void check(rsb_err_t error, char const* call)
{
    if (error != RSB_ERR_NO_ERROR) {
        char reason[256] = "";
        rsb_strerror_r(error, reason, sizeof reason);
        throw std::runtime_error(std::string{"librsb: "} + call + ": " + reason);
    }
}

/// The library's state in this process.
class Library
{
public:
    /// Starts the library at the first call; it uses `threads` threads until the next one.
    static void use(rsb_int_t threads)
    {
        static Library library;
        if (library.threads_ != threads) {
            check(rsb_lib_set_opt(RSB_IO_WANT_EXECUTING_THREADS, &threads), "rsb_lib_set_opt");
            library.threads_ = threads;
        }
    }
    Library(Library const&) = delete;
    Library& operator=(Library const&) = delete;

private:
    Library() { check(rsb_lib_init(RSB_NULL_INIT_OPTIONS), "rsb_lib_init"); }
    ~Library() { rsb_lib_exit(RSB_NULL_EXIT_OPTIONS); }

    rsb_int_t threads_ = 0; ///< 0: as many as the library likes
};

template <class T>
constexpr rsb_type_t type_code =
    std::is_same_v<T, float> ? RSB_NUMERICAL_TYPE_FLOAT : RSB_NUMERICAL_TYPE_DOUBLE;

//! [librsb]
template <class T>
rsb_mtx_t* make_blocks(sparse::CsrView<T> const& a)
{
    rsb_err_t error = RSB_ERR_NO_ERROR;
    auto const nonzeros = static_cast<rsb_nnz_idx_t>(a.nonzeros());
    rsb_mtx_t* matrix = rsb_mtx_alloc_from_csr_const(a.values.data(), a.row_ptr.data(),
                                                     a.col.data(), nonzeros, type_code<T>, a.rows,
                                                     a.columns, 1, 1, RSB_FLAG_NOFLAGS, &error);
    check(error, "rsb_mtx_alloc_from_csr_const");
    return matrix;
}

template <class T>
SpmvOperator<T> product(rsb_mtx_t* matrix, int threads)
{
    std::shared_ptr<rsb_mtx_t> const held{matrix, rsb_mtx_free};
    std::size_t bytes = 0;
    check(rsb_mtx_get_info(matrix, RSB_MIF_TOTAL_SIZE__TO__SIZE_T, &bytes), "rsb_mtx_get_info");
    return {
        bytes, [held, threads](std::span<T const> x, std::span<T> y) {
            Library::use(threads);
            T const one = 1;
            T const zero = 0;
            check(rsb_spmv(RSB_TRANSPOSITION_N, &one, held.get(), x.data(), 1, &zero, y.data(), 1),
                  "rsb_spmv");
        }};
}

/// The library's own search for other blocks. It can be misled, hence compared with no search.
template <class T>
SpmvOperator<T> tuned_product(sparse::CsrView<T> const& a, int threads)
{
    constexpr int rounds = 3;
    constexpr double multiplies_per_sample = -3; // positive numbers would be seconds
    rsb_mtx_t* matrix = make_blocks(a);
    auto const error = rsb_tune_spmm(
        &matrix, nullptr, nullptr, rounds, multiplies_per_sample, RSB_TRANSPOSITION_N, nullptr,
        nullptr, 1, RSB_FLAG_WANT_COLUMN_MAJOR_ORDER, nullptr, 0, nullptr, nullptr, 0);
    auto tuned = product<T>(matrix, threads);
    check(error, "rsb_tune_spmm");
    return tuned;
}

template <class T>
SpmvOperator<T> librsb_operator(sparse::CsrView<T> const& a, PeerOptions options)
{
    if (a.nonzeros() == 0) {
        throw NotApplicable{"librsb takes no matrix without nonzeros"};
    }
    Library::use(options.threads);
    Fastest<T> fastest{a, options.tuning};
    fastest.offer(product<T>(make_blocks(a), options.threads));
    if (options.tuning == Tuning::on) {
        fastest.offer(tuned_product(a, options.threads));
    }
    return fastest.kept();
}
//! [librsb]

} // namespace

template <class T>
SpmvPeer<T> librsb(PeerOptions options)
{
    return {"librsb", RSB_PACKAGE_VERSION, "",
            [options](sparse::CsrView<T> const& a) { return librsb_operator<T>(a, options); }};
}

template SpmvPeer<float> librsb(PeerOptions);
template SpmvPeer<double> librsb(PeerOptions);

} // namespace peers
