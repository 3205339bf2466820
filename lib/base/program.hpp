#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace base {

/// The exception that is being handled in one line for people: what it says, or the cause where it
/// would say little, as for short memory and errors of the file system. To be called in a handler.
std::string cause();

/// Runs what a program does and returns its exit code: that of `body`, or 2 with the line "name:
/// cause" on standard error where an exception leaves it.
int program(std::string_view name, std::function<int()> const& body);

/// From now on, what nobody catches ends the process as what leaves the body of `program` does,
/// under the name by which it was started: for programs of which only a part is such a body.
void tell_uncaught();

} // namespace base
