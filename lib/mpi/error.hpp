#pragma once

namespace mpi {

/// Throws std::runtime_error with the name of the call and MPI's own text unless `code` is
/// MPI_SUCCESS.
void check(int code, char const* call);

} // namespace mpi
