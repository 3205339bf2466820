#include "device.hpp"

// Built where there is no nvcc.

namespace machine_ceilings {

void add_device_ceilings(bench::Experiment&) {}

template <class T>
void measure_on_device(std::string const&, bench::Trial<T>& trial)
{
    trial.not_applicable("built without nvcc");
}

template void measure_on_device(std::string const&, bench::Trial<float>&);
template void measure_on_device(std::string const&, bench::Trial<double>&);

} // namespace machine_ceilings
