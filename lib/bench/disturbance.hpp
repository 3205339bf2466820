#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

namespace bench {

/// What can disturb a sample, as records name it.
enum class Disturbance
{
    preempted, ///< a thread of this process lost its processor to another one
    migrated,  ///< a thread was moved to another processor
    stolen,    ///< a virtual machine's host gave a processor to others
    throttled, ///< the processors, or the GPU, slowed down, for heat or power
    shared,    ///< another process computed on the GPU
};

inline constexpr std::array<std::string_view, 5> disturbance_names{"preempted", "migrated",
                                                                   "stolen", "throttled", "shared"};

/// How often each of them happened since some time before.
using Disturbances = std::array<std::uint64_t, disturbance_names.size()>;

/// Tells how often work was disturbed. What a system does not tell stays 0.
class Witness
{
public:
    virtual ~Witness() = default;

    /// What happened to the threads of this process: asked before and after each sample, so it
    /// takes a microsecond.
    virtual Disturbances of_process() = 0;

    /// What happened to the machine's processors, besides: asked before and after each round.
    virtual Disturbances of_machine() = 0;

    /// What happened to its GPUs.
    virtual Disturbances of_gpus() = 0;
};

/// The system as it is, or who stands in for it. Threads that began before this call are not
/// watched for migrations.
std::shared_ptr<Witness> system_witness();

/// From now on this one stands in for the system, until it is none: for tests.
void replace_system(std::shared_ptr<Witness> witness);

} // namespace bench
