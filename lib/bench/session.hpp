#pragma once

#include "bench/cache_flush.hpp"
#include "bench/pacer.hpp"
#include "bench/pattern.hpp"
#include "bench/processor_time.hpp"
#include "bench/record.hpp"
#include "bench/settings.hpp"
#include "bench/verify.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// Thrown by `TrialCore::not_applicable` and `Setup::not_applicable`; the reason is `what()`.
struct NotApplicable : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/// One run of an experiment: what its trials share.
class Session
{
public:
    Session(std::string experiment, Settings chosen, std::shared_ptr<Team> members,
            std::shared_ptr<Clock> default_clock);

    /// Evicts the caches of all threads; allocates its buffer at the first call.
    void flush_caches();

    /// Puts the value of every axis of point `index` into `at`; the last axis varies fastest.
    Point point(std::size_t index) const;

    /// Product of the axes' lengths.
    std::size_t points() const;

    /// Parameters of a point as they stand in the record.
    static Json parameters(Point const& at);

    /// "matrix=pois2d precision=fp32"
    static std::string label(Point const& at);

    std::string name;
    Settings settings;
    std::shared_ptr<Team> team;
    std::shared_ptr<Clock> clock;
    Pattern filter;
    std::size_t cache_bytes;
    Pacer pacer;
    Record record;
    ProcessorMeter meter; ///< runs in rounds: samples, and what comes before them

    std::size_t index = 0;                ///< of the point being measured
    Point at;                             ///< the point being measured
    std::map<std::string, Verdict> exact; ///< outcome of this point's exact check per variant
    std::map<std::string, std::string> unsuited; ///< this point's variants that are not applicable
    PointRecord measured;                        ///< of this point

private:
    std::optional<CacheFlush> flush_;
};

} // namespace bench
