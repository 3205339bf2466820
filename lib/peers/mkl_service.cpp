#include "peers/mkl_service.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace peers {

void start_mkl(int threads)
{
    static bool const threaded = [threads] {
        mkl_set_interface_layer(MKL_INTERFACE_LP64);
        mkl_set_threading_layer(threads == 1 ? MKL_THREADING_SEQUENTIAL : MKL_THREADING_GNU);
        mkl_set_dynamic(0); // else it takes fewer threads where it thinks that better
        return threads != 1;
    }();
    if (threads != 1 && !threaded) {
        throw std::logic_error{"mkl: this process has begun with one thread, and keeps to it"};
    }
}

std::string mkl_version()
{
    MKLVersion found{};
    mkl_get_version(&found);
    return fmt::format("{}.{}.{} (code for {})", found.MajorVersion, found.MinorVersion,
                       found.UpdateVersion, found.Processor);
}

} // namespace peers
