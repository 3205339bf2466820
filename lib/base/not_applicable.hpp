#pragma once

#include <stdexcept>

namespace base {

/// Thrown where something is not made for an input, such as a library for a kind of matrix: no
/// failure. The reason is `what()`, and stands in reports.
struct NotApplicable : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

} // namespace base
