#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace bench {

/// The `machine` object of a result file. Names no host, user or path.
nlohmann::ordered_json machine_record();

/// The `launch` object of a result file for this process and its environment, one of `ranks` on
/// `hosts` hosts like this one.
nlohmann::ordered_json launch_record(int threads, int ranks, int hosts);

/// Versions of the libraries that the harness itself loaded.
nlohmann::ordered_json library_record();

/// SHA-256 of the running program, in lower-case hexadecimal.
std::string program_sha256();

/// Time now as 2026-01-31T12:00:00Z.
std::string utc_now();

} // namespace bench
