#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>

namespace bench {

/// The `machine` object of a result file, as hwloc, the kernel and the drivers describe this
/// machine. Names no host, user or path.
nlohmann::ordered_json machine_record();

/// The `launch` object of a result file for this process and its environment, one of `ranks` on
/// `hosts` hosts like this one.
nlohmann::ordered_json launch_record(int threads, int ranks, int hosts);

/// Versions of the libraries that the harness itself loaded.
nlohmann::ordered_json library_record();

/// Bytes of all last-level caches together; 64 MiB where the machine does not tell.
std::size_t last_level_cache_bytes();

/// Hardware threads that this process may run on.
int available_threads();

/// Lower-case hexadecimal SHA-256 of a file. Throws std::runtime_error if it cannot be read.
std::string file_sha256(std::string const& path);

/// SHA-256 of the running program.
std::string program_sha256();

/// Time now as 2026-01-31T12:00:00Z.
std::string utc_now();

} // namespace bench
