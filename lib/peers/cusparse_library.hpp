#pragma once

#include <cusparse.h>

#include <memory>
#include <string>
#include <type_traits>

namespace peers {

/// The functions of cuSPARSE that we use. The library has some hundred megabytes and comes with the
/// CUDA toolkit, so that it is loaded where it is found, and programs start without it.
struct CusparseLibrary
{
    decltype(&cusparseCreate) create = nullptr;
    decltype(&cusparseDestroy) destroy = nullptr;
    decltype(&cusparseSetStream) set_stream = nullptr;
    decltype(&cusparseGetProperty) get_property = nullptr;
    decltype(&cusparseGetErrorString) error_string = nullptr;
    decltype(&cusparseCreateCsr) create_csr = nullptr;
    decltype(&cusparseCreateSlicedEll) create_sliced_ell = nullptr;
    decltype(&cusparseCreateBsr) create_bsr = nullptr;
    decltype(&cusparseDestroySpMat) destroy_matrix = nullptr;
    decltype(&cusparseCreateDnVec) create_vector = nullptr;
    decltype(&cusparseDnVecSetValues) set_vector = nullptr;
    decltype(&cusparseDestroyDnVec) destroy_vector = nullptr;
    decltype(&cusparseSpMV_bufferSize) buffer_size = nullptr;
    decltype(&cusparseSpMV_preprocess) preprocess = nullptr;
    decltype(&cusparseSpMV) multiply = nullptr;

    std::string missing; ///< why it cannot be used; empty if it can

    /// The library, loaded once in a program.
    static CusparseLibrary const& get();

    /// "12.6.3".
    std::string version() const;

    /// Throws `std::runtime_error` with what was called and the library's text unless `status` is
    /// success.
    void check(cusparseStatus_t status, char const* what) const;
};

} // namespace peers
