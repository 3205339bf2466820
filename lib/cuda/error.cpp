#include "cuda/error.hpp"

#include <fmt/format.h>

#include <string_view>

namespace cuda {

namespace {

/// The file without its folders, which may be those of one machine.
std::string_view file_name(std::source_location const& place)
{
    std::string_view const path{place.file_name()};
    return path.substr(path.find_last_of('/') + 1);
}

} // namespace

Error::Error(cudaError_t code, std::source_location place)
    : std::runtime_error{fmt::format("{}: {} ({}:{})", cudaGetErrorName(code),
                                     cudaGetErrorString(code), file_name(place), place.line())},
      code_{code}
{
}

void check(cudaError_t code, std::source_location place)
{
    if (code != cudaSuccess) {
        static_cast<void>(cudaGetLastError()); // or the next launch would be blamed for it
        throw Error{code, place};
    }
}

void check_launch(std::source_location place)
{
    check(cudaGetLastError(), place);
}

} // namespace cuda
