#pragma once

#include <cuda_runtime_api.h>

#include <source_location>
#include <stdexcept>

// NVIDIA's C++ library has a namespace `cuda` too, with a `cuda::std` in it: wherever a source has
// included that first, only `::std` is the standard library here.
namespace cuda {

/// A call of the CUDA runtime that failed: the name and text of its error, and where it was made.
class Error : public ::std::runtime_error
{
public:
    Error(cudaError_t code, ::std::source_location place);

    cudaError_t code() const { return code_; }

private:
    cudaError_t code_;
};

/// Throws `Error` unless `code` is cudaSuccess.
void check(cudaError_t code, ::std::source_location place = ::std::source_location::current());

/// Throws `Error` if the kernel that was launched last could not start: call it after each launch.
void check_launch(::std::source_location place = ::std::source_location::current());

} // namespace cuda
