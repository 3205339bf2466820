#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace bench {

/// The `machine` object of a result file. Names no host, user or path.
nlohmann::ordered_json machine_record();

/// Clocks, power, temperature of each GPU now, and what holds its clocks back.
nlohmann::ordered_json gpu_states();

/// The `launch` object of a result file for this process and its environment, one of `ranks` on
/// `hosts` hosts like this one.
nlohmann::ordered_json launch_record(int threads, int ranks, int hosts);

/// Versions of the libraries that the harness itself loaded.
nlohmann::ordered_json library_record();

/// Hardware threads that this process may run on.
int available_threads();

/// Lower-case hexadecimal SHA-256 of a file. Throws std::runtime_error if it cannot be read.
std::string file_sha256(std::string const& path);

/// SHA-256 of the running program.
std::string program_sha256();

/// Time now as 2026-01-31T12:00:00Z.
std::string utc_now();

} // namespace bench
