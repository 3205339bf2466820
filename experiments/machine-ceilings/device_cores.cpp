#include "device_results.hpp"
#include "device_studies.hpp"

#include "ceilings/device_kernels.hpp"
#include "ceilings/device_probes.hpp"
#include "ceilings/reference.hpp"
#include "cuda/buffer.hpp"

#include <cstddef>
#include <string>

namespace machine_ceilings {

template <class T>
void device_shared(bench::Trial& trial, cuda::Gpu& gpu)
{
    constexpr unsigned steps = 1u << 15;
    auto const values = trial.input<T>(ceilings::shared_words);
    auto const blocks = ceilings::device_blocks();
    auto const sums = warm_results<T>(trial, blocks);
    trial.work({.bytes = blocks * ceilings::device_shared_bytes<T>(steps)});
    sums.expect([=] { return ceilings::device_shared_reference<T>(values, blocks, steps); });
    auto const add = [&](std::string const& name, bool is_wide) {
        auto const read = [=, &gpu, from = values.on(gpu), out = sums.on(gpu)] {
            ceilings::device_shared<T>(from, steps, is_wide, out, gpu.stream());
        };
        trial.add(name, read).excerpt("device_shared");
    };
    add("device_shared_word", false);
    add("device_shared_16_bytes", true);
    trial.run();
}
template void device_shared<float>(bench::Trial&, cuda::Gpu&);
template void device_shared<double>(bench::Trial&, cuda::Gpu&);

template <class T>
void device_fma(bench::Trial& trial, cuda::Gpu& gpu)
{
    auto const start = trial.input<T>(ceilings::device_chains);
    auto const factors = trial.input<T>(2).on();
    auto const count = std::size_t{ceilings::device_blocks()} * ceilings::device_threads;
    auto const sums = warm_results<T>(trial, count);
    trial.work({.flops = static_cast<double>(count) * ceilings::device_fma_flops});
    sums.expect(
        [=] { return ceilings::device_fma_reference<T>(start, factors[0], factors[1], count); });
    trial.add("device_fma", [=, &gpu, from = start.on(gpu), out = sums.on(gpu)] {
        ceilings::device_fma<T>(from, factors[0], factors[1], out, gpu.stream());
    });
    trial.run();
}
template void device_fma<float>(bench::Trial&, cuda::Gpu&);
template void device_fma<double>(bench::Trial&, cuda::Gpu&);

void device_take(bench::Trial& trial, cuda::Gpu& gpu)
{
    constexpr std::size_t count = 1 << 20;
    cuda::Buffer<unsigned> counter{1};
    auto const taken = warm_results<double>(trial, count);
    trial.work({.operations = static_cast<double>(count)});
    taken.expect([] { return ceilings::counted(count, 1); });
    for (unsigned const chunk : {1U, 4U, 16U}) {
        auto const take = [&, chunk, out = taken.on(gpu)] {
            ceilings::device_take(counter.data(), chunk, out, gpu.stream());
        };
        trial.add("device_take_" + std::to_string(chunk), take).excerpt("device_take");
    }
    trial.run();
}

} // namespace machine_ceilings
