#include "device_results.hpp"
#include "device_studies.hpp"

#include "ceilings/device_kernels.hpp"
#include "ceilings/reference.hpp"

#include <cstddef>
#include <string>

namespace machine_ceilings {

void launches(bench::Trial& trial, cuda::Gpu& gpu, std::string const& name, std::size_t count,
              bench::Clock& clock, bool waits, bool begins_idle)
{
    if (begins_idle) {
        trial.on_reset([&] { gpu.finish(); });
    }
    auto const marks = warm_results<double>(trial, count);
    trial.work({.operations = static_cast<double>(count)});
    marks.expect([=] { return ceilings::counted(count, 1); });
    auto const launch = [=, &gpu, out = marks.on(gpu)] {
        ceilings::device_launches(out, gpu.stream());
        if (waits) {
            gpu.finish();
        }
    };
    trial.add(name, launch).excerpt("device_launch").clock(clock);
    trial.run();
}

} // namespace machine_ceilings
