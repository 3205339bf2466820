#include "base/program.hpp"

#include "base/printable.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>

namespace base {

namespace {

std::string told()
{
    try {
        throw;
    } catch (std::bad_alloc const&) {
        return "not enough memory";
    } catch (std::filesystem::filesystem_error const& error) {
        return error.path1().string() + ": " + error.code().message();
    } catch (std::exception const& error) {
        return error.what();
    } catch (...) {
        return "something that is no exception of the standard library";
    }
}

constexpr int failed = 2;

/// Prints what is being handled, also where there is no memory for its text.
int tell(std::string_view name)
{
    try {
        auto const line = std::string{name} + ": " + cause() + "\n";
        static_cast<void>(std::fputs(line.c_str(), stderr));
    } catch (std::bad_alloc const&) {
        std::fwrite(name.data(), 1, name.size(), stderr);
        static_cast<void>(std::fputs(": not enough memory\n", stderr));
    }
    return failed;
}

[[noreturn]] void end()
{
    if (!std::current_exception()) {
        std::abort(); // nothing was thrown
    }
    try {
        throw;
    } catch (...) {
        std::_Exit(tell(program_invocation_short_name));
    }
}

} // namespace

std::string cause()
{
    auto line = told();
    std::ranges::replace(line, '\n', ' ');
    return printable(line);
}

int program(std::string_view name, std::function<int()> const& body)
{
    try {
        return body();
    } catch (...) {
        return tell(name);
    }
}

void tell_uncaught()
{
    std::set_terminate(end);
}

} // namespace base
