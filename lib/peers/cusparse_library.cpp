#include "peers/cusparse_library.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace peers {

namespace {

constexpr char const* places[] = {
    "libcusparse.so.12",
    "/usr/local/cuda/lib64/libcusparse.so.12",
};

void* open_library()
{
    for (char const* place : places) {
        if (void* const library = dlopen(place, RTLD_NOW | RTLD_LOCAL)) {
            return library;
        }
    }
    return nullptr;
}

CusparseLibrary load()
{
    CusparseLibrary api;
    void* const library = open_library();
    if (!library) {
        api.missing = "libcusparse.so.12 was not found; it comes with the CUDA toolkit";
        return api;
    }
    auto const find = [&](auto& function, char const* name) {
        void* const symbol = dlsym(library, name);
        if (!symbol) {
            api.missing = std::string{"libcusparse.so.12 has no "} + name;
        }
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
    };
    find(api.create, "cusparseCreate");
    find(api.destroy, "cusparseDestroy");
    find(api.set_stream, "cusparseSetStream");
    find(api.get_property, "cusparseGetProperty");
    find(api.error_string, "cusparseGetErrorString");
    find(api.create_csr, "cusparseCreateCsr");
    find(api.create_sliced_ell, "cusparseCreateSlicedEll");
    find(api.create_bsr, "cusparseCreateBsr");
    find(api.destroy_matrix, "cusparseDestroySpMat");
    find(api.create_vector, "cusparseCreateDnVec");
    find(api.set_vector, "cusparseDnVecSetValues");
    find(api.destroy_vector, "cusparseDestroyDnVec");
    find(api.buffer_size, "cusparseSpMV_bufferSize");
    find(api.preprocess, "cusparseSpMV_preprocess");
    find(api.multiply, "cusparseSpMV");
    return api;
}

} // namespace

CusparseLibrary const& CusparseLibrary::get()
{
    static CusparseLibrary const library = load();
    return library;
}

std::string CusparseLibrary::version() const
{
    int major = 0;
    int minor = 0;
    int patch = 0;
    check(get_property(MAJOR_VERSION, &major), "cusparseGetProperty");
    check(get_property(MINOR_VERSION, &minor), "cusparseGetProperty");
    check(get_property(PATCH_LEVEL, &patch), "cusparseGetProperty");
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

void CusparseLibrary::check(cusparseStatus_t status, char const* what) const
{
    if (status != CUSPARSE_STATUS_SUCCESS) {
        throw std::runtime_error{std::string{what} + ": " + error_string(status)};
    }
}

} // namespace peers
