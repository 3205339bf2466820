#pragma once

#include <string_view>

namespace sparse {

/// The text of datasets/catalogue.toml when the library was built.
extern std::string_view const embedded_catalogue;

/// The text of datasets/structures.lock when the library was built.
extern std::string_view const embedded_structures_lock;

} // namespace sparse
