#include "peers/petsc.hpp"

namespace peers {

Petsc::Petsc() = default;
Petsc::~Petsc() = default;

std::string Petsc::version()
{
    return "";
}

template <class T>
std::string Petsc::missing()
{
    return "not found when this was built; Debian: apt install libpetsc-real-dev";
}

template <class T>
SpmvOperator<T> petsc(MPI_Comm, sparse::CsrView<T, std::int64_t> const&, std::int64_t)
{
    throw NotApplicable{Petsc::missing<T>()};
}

template std::string Petsc::missing<float>();
template std::string Petsc::missing<double>();
template SpmvOperator<float> petsc(MPI_Comm, sparse::CsrView<float, std::int64_t> const&,
                                   std::int64_t);
template SpmvOperator<double> petsc(MPI_Comm, sparse::CsrView<double, std::int64_t> const&,
                                    std::int64_t);

} // namespace peers
