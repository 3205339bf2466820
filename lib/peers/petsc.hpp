#pragma once

#include "peers/spmv.hpp"

#include "sparse/csr.hpp"

#include <mpi.h>

#include <cstdint>
#include <string>

namespace peers {

/// PETSc, from its start to its end: within the life of MPI, and once in a program. Does nothing
/// where PETSc was not found when this was built.
class Petsc
{
public:
    Petsc();
    ~Petsc();
    Petsc(Petsc const&) = delete;
    Petsc& operator=(Petsc const&) = delete;

    /// Of the library in use; empty if it is not available.
    static std::string version();

    /// Why it is not available and how to install it; empty if it is. `T` is float or double.
    template <class T>
    static std::string missing();
};

/// `MatMult` with the rows of all ranks of `communicator`, which own them in order of ranks.
/// Collective. `rows` are this rank's, with ascending columns of the whole matrix; `own_columns` of
/// the elements of `x` are this rank's. Throws `NotApplicable` where PETSc is missing or its index
/// type cannot hold the matrix.
template <class T>
SpmvOperator<T> petsc(MPI_Comm communicator, sparse::CsrView<T, std::int64_t> const& rows,
                      std::int64_t own_columns);

} // namespace peers
