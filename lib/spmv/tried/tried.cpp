#include "spmv/tried/tried.hpp"

#include <dlfcn.h>
#include <stdexcept>

namespace spmv {

TriedLibrary::TriedLibrary(std::string const& file) : file_{file}
{
    void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        throw std::invalid_argument{"--tried: " + std::string{dlerror()}};
    }
    handle_ = {handle, [](void* opened) { dlclose(opened); }};
}

void* TriedLibrary::symbol(char const* name) const
{
    void* const found = dlsym(handle_.get(), name);
    if (found == nullptr) {
        throw std::invalid_argument{"--tried: " + file_ + ": found no " + name +
                                    ", expected a file that `just try` compiled"};
    }
    return found;
}

} // namespace spmv
