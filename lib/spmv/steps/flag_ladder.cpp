#include "spmv/steps/flag_ladder.hpp"

#include <array>

namespace spmv {

namespace {

template <class T>
using RawFunction = void(int rows, int const* row_ptr, int const* col, T const* values, T const* x,
                         T* y);

} // namespace

namespace O0 {
RawFunction<float> multiply;
RawFunction<double> multiply;
} // namespace O0
namespace O1 {
RawFunction<float> multiply;
RawFunction<double> multiply;
} // namespace O1
namespace O2 {
RawFunction<float> multiply;
RawFunction<double> multiply;
} // namespace O2
namespace O3 {
RawFunction<float> multiply;
RawFunction<double> multiply;
} // namespace O3
namespace native {
RawFunction<float> multiply;
RawFunction<double> multiply;
} // namespace native
namespace fast_math {
RawFunction<float> multiply;
RawFunction<double> multiply;
} // namespace fast_math
namespace no_vectors {
RawFunction<float> multiply;
RawFunction<double> multiply;
} // namespace no_vectors
namespace no_fma {
RawFunction<float> multiply;
RawFunction<double> multiply;
} // namespace no_fma
namespace no_vectors_no_fma {
RawFunction<float> multiply;
RawFunction<double> multiply;
} // namespace no_vectors_no_fma

namespace {

/// Calls a function of raw pointers with views.
template <class T, RawFunction<T>* multiply>
void on_views(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y)
{
    multiply(a.rows, a.row_ptr.data(), a.col.data(), a.values.data(), x.data(), y.data());
}

} // namespace

template <class T>
std::span<Kernel<T> const> flag_ladder()
{
    static std::array const table
    {
        Kernel<T>{"textbook_O0", on_views<T, O0::multiply>, ""},
            Kernel<T>{"textbook_O1", on_views<T, O1::multiply>, ""},
            Kernel<T>{"textbook_O2", on_views<T, O2::multiply>, ""},
            Kernel<T>{"textbook_O3", on_views<T, O3::multiply>, ""},
#if defined(SPMV_NATIVE)
            Kernel<T>{"textbook_native", on_views<T, native::multiply>, ""},
            Kernel<T>{"textbook_fast_math", on_views<T, fast_math::multiply>, ""},
#endif
    };
    return table;
}

template <class T>
std::span<Kernel<T> const> flags_removed()
{
    static std::array const table
    {
        Kernel<T>{"loop_O1", on_views<T, O1::multiply>, ""},
#if defined(SPMV_NATIVE)
            Kernel<T>{"loop_fast_math", on_views<T, fast_math::multiply>, ""},
            Kernel<T>{"loop_no_vectors", on_views<T, no_vectors::multiply>, ""},
            Kernel<T>{"loop_no_fma", on_views<T, no_fma::multiply>, ""},
            Kernel<T>{"loop_no_vectors_no_fma", on_views<T, no_vectors_no_fma::multiply>, ""},
#endif
    };
    return table;
}

template std::span<Kernel<float> const> flag_ladder();
template std::span<Kernel<double> const> flag_ladder();
template std::span<Kernel<float> const> flags_removed();
template std::span<Kernel<double> const> flags_removed();

} // namespace spmv
