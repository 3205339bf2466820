#include "peers/adapters.hpp"

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

/// The library's state in this process: one thread.
class Library
{
public:
    Library()
    {
        check(rsb_lib_init(RSB_NULL_INIT_OPTIONS), "rsb_lib_init");
        rsb_int_t const threads = 1;
        check(rsb_lib_set_opt(RSB_IO_WANT_EXECUTING_THREADS, &threads), "rsb_lib_set_opt");
    }
    ~Library() { rsb_lib_exit(RSB_NULL_EXIT_OPTIONS); }
    Library(Library const&) = delete;
    Library& operator=(Library const&) = delete;
};

template <class T>
constexpr rsb_type_t type_code =
    std::is_same_v<T, float> ? RSB_NUMERICAL_TYPE_FLOAT : RSB_NUMERICAL_TYPE_DOUBLE;

//! [librsb]
template <class T>
SpmvOperator<T> librsb_operator(sparse::CsrView<T> const& a, Tuning tuning)
{
    static Library const library;
    rsb_err_t error = RSB_ERR_NO_ERROR;
    rsb_mtx_t* matrix = rsb_mtx_alloc_from_csr_const(
        a.values.data(), a.row_ptr.data(), a.col.data(), static_cast<rsb_nnz_idx_t>(a.nonzeros()),
        type_code<T>, a.rows, a.columns, 1, 1, RSB_FLAG_NOFLAGS, &error);
    check(error, "rsb_mtx_alloc_from_csr_const");
    if (tuning == Tuning::on) {
        constexpr int rounds = 3;
        constexpr double multiplies_per_sample = -3; // positive numbers would be seconds
        error = rsb_tune_spmm(&matrix, nullptr, nullptr, rounds, multiplies_per_sample,
                              RSB_TRANSPOSITION_N, nullptr, nullptr, 1,
                              RSB_FLAG_WANT_COLUMN_MAJOR_ORDER, nullptr, 0, nullptr, nullptr, 0);
    }
    std::shared_ptr<rsb_mtx_t> const tuned{matrix, rsb_mtx_free};
    check(error, "rsb_tune_spmm");
    std::size_t bytes = 0;
    check(rsb_mtx_get_info(matrix, RSB_MIF_TOTAL_SIZE__TO__SIZE_T, &bytes), "rsb_mtx_get_info");

    return {
        bytes, [tuned](std::span<T const> x, std::span<T> y) {
            T const one = 1;
            T const zero = 0;
            check(rsb_spmv(RSB_TRANSPOSITION_N, &one, tuned.get(), x.data(), 1, &zero, y.data(), 1),
                  "rsb_spmv");
        }};
}
//! [librsb]

} // namespace

template <class T>
SpmvPeer<T> librsb(Tuning tuning)
{
    return {"librsb", RSB_PACKAGE_VERSION, "",
            [tuning](sparse::CsrView<T> const& a) { return librsb_operator<T>(a, tuning); }};
}

template SpmvPeer<float> librsb(Tuning);
template SpmvPeer<double> librsb(Tuning);

} // namespace peers
