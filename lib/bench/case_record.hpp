#pragma once

#include "bench/prepared.hpp"
#include "bench/provenance.hpp"
#include "bench/run.hpp"

#include <string>

namespace bench {

/// The marked source text that a variant names; throws std::logic_error if there is none.
Excerpt const& marked_text(Variant::Facts const& variant);

/// Adds a variant that took no part to what the point measured, and the reason.
void record_skipped(Variant::Facts const& variant, std::string const& reason, PointState& point);

/// Adds a variant that did the `work` to what the point measured: its verdict, and if it passed its
/// samples. A failure is told on standard error.
void record_case(Prepared const& prepared, Work const& work, Run& run);

} // namespace bench
