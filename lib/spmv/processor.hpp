#pragma once

#include "machine/topology.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace spmv {

/// What the plan's model asks of caches: the core's view of them.
using Caches = machine::CoreCaches;

/// Nanoseconds of one thing that the plan's model counts. Their proportions decide the format,
/// their sums how many shares a thread begins with.
struct TermTime
{
    std::string_view term; ///< such as "csr.row"
    double single_ns;      ///< in a multiply in single precision
    double double_ns;      ///< in double precision
};

/// Something that takes time, and how often one thread does it in a multiply.
struct Term
{
    std::string name; ///< its constant in `Processor::times`
    double count;
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
    int hardware_threads; ///< of the machine, 0 if unknown
    bool shares_cores;    ///< whether two hardware threads of this kind are taken for one core

    /// Tiles are cut into bands if at most this share of the elements of `x` come from beyond a
    /// core's second cache: each band reads those once more.
    double far_share_in_bands;

    /// The sum of all counts, each times its constant. Throws `std::logic_error` if one has none.
    double nanoseconds(std::span<Term const> terms, bool single) const;

    /// Share of `threads` that have to share a core, if each core has two hardware threads (SMT
    /// siblings) and no thread shares one while another core is idle. Virtual machines hide which
    /// of their processors are halves of cores, so this is a property of the kind. 0 where hardware
    /// threads are cores, or unknown.
    double crowded_share(int threads) const;
};

/// A processor of `vendor`, "amd", "intel" or any other, that runs the kernels of this name, in a
/// machine with so many hardware threads, 0 if unknown.
Processor processor(std::string_view vendor, std::string_view kernels, Caches const& caches,
                    int hardware_threads = 0);

/// The processor that runs this, with the kernels of this name.
Processor detect_processor(std::string_view kernels);

} // namespace spmv
