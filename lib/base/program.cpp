#include "base/program.hpp"

#include "base/printable.hpp"

#include <algorithm>
#include <cstdio>
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
        auto const line = std::string{name} + ": " + cause() + "\n";
        static_cast<void>(std::fputs(line.c_str(), stderr));
        return 2;
    }
}

} // namespace base
