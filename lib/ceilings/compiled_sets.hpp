#pragma once

#include "ceilings/instruction_set.hpp"

namespace ceilings {

/// What one object with flags of its own exports.
struct CompiledSet : InstructionSet<float>, InstructionSet<double>
{
};

extern CompiledSet const avx512;
extern CompiledSet const avx2;

/// Compiled without special flags: runs on every CPU of the architecture.
extern CompiledSet const baseline;

} // namespace ceilings
