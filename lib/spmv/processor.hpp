#pragma once

#include "spmv/cpu.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace spmv {

/// Nanoseconds of one thing that the plan's model counts; only their proportions matter.
struct TermTime
{
    std::string_view term; ///< such as "csr.row"
    double single_ns;      ///< in a multiply in single precision
    double double_ns;      ///< in double precision
};

/// What the plan's model knows of a processor with the kernels that it uses.
struct Processor
{
    std::string_view kind;           ///< of its constants: as its file in `plan_times`
    std::string_view kernels;        ///< of `FormatKernels`
    std::size_t vector_bytes;        ///< of these kernels
    double misses_at_a_time;         ///< elements of `x` that a core can wait for at once
    std::span<TermTime const> times; ///< every term once
    Caches caches;
};

/// A processor of `vendor`, "amd", "intel" or any other, that runs the kernels of this name.
Processor processor(std::string_view vendor, std::string_view kernels, Caches const& caches);

/// The processor that runs this, with the kernels of this name.
Processor detect_processor(std::string_view kernels);

} // namespace spmv
