#include "spmv/gpu/plan.hpp"

#include <stdexcept>

// Built in place of this room where there is no nvcc; never called, as the GPU is missing.

namespace spmv::gpu {

namespace {

[[noreturn]] void refuse()
{
    throw std::logic_error{"built without nvcc"};
}

} // namespace

template <class T>
Csr<T>::Csr(sparse::CsrView<T> const&) : row_ptr{0}, col{0}, values{0}
{
    refuse();
}

template <class T>
Plan<T>::Plan(CsrView<T> const&, cudaStream_t, PlanOptions const&)
{
    refuse();
}

template <class T>
void Plan<T>::operator()(T const*, T*, cudaStream_t) const
{
    refuse();
}

template <class T>
std::string Plan<T>::explain() const
{
    refuse();
}

template struct Csr<float>;
template struct Csr<double>;
template class Plan<float>;
template class Plan<double>;

} // namespace spmv::gpu
