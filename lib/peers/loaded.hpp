#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <string>
#include <type_traits>

namespace peers {

/// A shared library that is loaded where it is found, so that programs start without it.
class Loaded
{
public:
    /// Tries the names in their order; `comes_with` tells in errors where it would come from.
    Loaded(std::initializer_list<char const*> names, std::string const& comes_with)
    {
        for (char const* const name : names) {
            if (handle_ == nullptr) {
                handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
            }
        }
        name_ = *names.begin();
        if (handle_ == nullptr) {
            missing_ = name_ + " was not found; it comes with " + comes_with;
        }
    }

    /// Why it cannot be used; empty if it can.
    std::string const& missing() const { return missing_; }

    /// Points `function` at one of its functions; if there is none such, the library is missing.
    template <class Function>
    void find(Function& function, char const* symbol)
    {
        if (handle_ == nullptr) {
            return;
        }
        void* const found = dlsym(handle_, symbol);
        if (found == nullptr) {
            missing_ = name_ + " has no " + symbol;
        }
        function = reinterpret_cast<Function>(found);
    }

private:
    void* handle_ = nullptr;
    std::string name_;
    std::string missing_;
};

} // namespace peers
