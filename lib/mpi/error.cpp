#include "mpi/error.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <stdexcept>
#include <string_view>

namespace mpi {

void check(int code, char const* call)
{
    if (code == MPI_SUCCESS) {
        return;
    }
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    throw std::runtime_error{fmt::format(
        "{}: {}", call, std::string_view{text.data(), static_cast<std::size_t>(length)})};
}

} // namespace mpi
