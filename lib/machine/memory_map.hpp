#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>

namespace machine {

/// Calls `use` with all memory of this process that caches may hold a part of: the pages of its
/// mappings that may be written and are there, neighbours together.
///
/// False where the system does not tell all of it, or where a device maps memory, which is not
/// asked what may be done with it. What is larger than the machine's memory is left out: sanitizers
/// reserve it to keep their books. Meanwhile no thread may give memory back, nor may `use`.
bool for_resident_memory(std::function<void(std::span<std::byte const>)> const& use,
                         std::filesystem::path const& process = "/proc/self");

} // namespace machine
