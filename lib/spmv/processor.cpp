#include "spmv/processor.hpp"

#include "machine/cpu.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace spmv {

namespace {

constexpr TermTime amd_avx512[] = {
#include "spmv/plan_times/amd_avx512.inc"
};
constexpr TermTime zen4[] = {
#include "spmv/plan_times/zen4.inc"
};
constexpr TermTime intel_avx512[] = {
#include "spmv/plan_times/intel_avx512.inc"
};
constexpr TermTime avx512_gather[] = {
#include "spmv/plan_times/avx512_gather.inc"
};
constexpr TermTime avx2[] = {
#include "spmv/plan_times/avx2.inc"
};
constexpr TermTime other[] = {
#include "spmv/plan_times/other.inc"
};

/// A kind of processor and its constants.
struct Kind
{
    std::string_view vendor;  ///< empty: any
    std::string_view kernels; ///< empty: any
    std::size_t first_cache;  ///< bytes of the first level at most; 0: any
    std::string_view name;
    double misses_at_a_time;   ///< of the first level, under way in one core
    bool shares_cores;         ///< whether its hardware threads were measured to be halves of cores
    double far_share_in_bands; ///< as in `Processor`; 0 where bands gain nothing, or untried
    std::span<TermTime const> times;
};

/// The first that fits counts; the last fits always.
constexpr std::array<Kind, 6> kinds = {{
    // Zen 4 has vector units of half the width. Results record no family of processors, but caches:
    // the first level tells it from a Zen 5, which has 48 KiB.
    {"amd", "avx512", 32 << 10, "zen4", 24, false, 0, zen4},
    {"amd", "avx512", 0, "amd_avx512", 24, false, 0, amd_avx512},
    {"", "avx512", 0, "intel_avx512", 10, false, 0, intel_avx512},
    {"", "avx512_gather", 0, "avx512_gather", 10, true, 0.7, avx512_gather},
    {"", "avx2", 0, "avx2", 10, false, 0, avx2},
    {"", "", 0, "other", 10, false, 0, other},
}};

Kind const& kind_of(std::string_view vendor, std::string_view kernels, Caches const& caches)
{
    for (auto const& kind : kinds) {
        if ((kind.vendor.empty() || kind.vendor == vendor) &&
            (kind.kernels.empty() || kind.kernels == kernels) &&
            (kind.first_cache == 0 || caches.first <= kind.first_cache)) {
            return kind;
        }
    }
    return kinds.back();
}

} // namespace

double Processor::nanoseconds(std::span<Term const> terms, bool single) const
{
    double sum = 0;
    for (auto const& [name, count] : terms) {
        auto const time = std::ranges::find(times, name, &TermTime::term);
        if (time == times.end()) {
            throw std::logic_error{"plan: no time of " + name};
        }
        sum += count * (single ? time->single_ns : time->double_ns);
    }
    return sum;
}

double Processor::crowded_share(int threads) const
{
    if (threads == 1 || hardware_threads == 0 || !shares_cores) {
        return 0;
    }
    return std::clamp(2 - static_cast<double>(hardware_threads) / threads, 0.0, 1.0);
}

Processor processor(std::string_view vendor, std::string_view kernels, Caches const& caches,
                    int hardware_threads)
{
    Kind const& kind = kind_of(vendor, kernels, caches);
    std::size_t const vector_bytes = kernels.starts_with("avx512") ? 64
                                     : kernels == "avx2"           ? 32
                                                                   : 16;
    return {kind.name, kernels,          vector_bytes,      kind.misses_at_a_time,  kind.times,
            caches,    hardware_threads, kind.shares_cores, kind.far_share_in_bands};
}

Processor detect_processor(std::string_view kernels)
{
    auto const& topology = machine::topology();
    return processor(machine::cpu().vendor, kernels, topology.core_caches,
                     topology.hardware_threads);
}

} // namespace spmv
