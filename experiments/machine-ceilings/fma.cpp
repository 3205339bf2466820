#include "studies.hpp"

#include "ceilings/fma.hpp"
#include "ceilings/reference.hpp"

#include <cstddef>

namespace machine_ceilings {

template <class T>
void fma(bench::Trial& trial)
{
    int const threads = trial.threads();
    auto const start = trial.input<T>(ceilings::fma_elements<T>).on();
    auto const factors = trial.input<T>(2).on();
    auto const output = trial.output<T>(start.size() * static_cast<std::size_t>(threads));
    trial.work({.flops = ceilings::fma_flops<T>(threads)});
    output.expect(
        [=] { return ceilings::fma_reference<T>(start, factors[0], factors[1], threads); });
    for (auto const& variant : ceilings::fma_variants<T>()) {
        auto const call = [=, sum = output.on(), kernel = variant.kernel] {
            ceilings::run_fma<T>(kernel, start, factors[0], factors[1], sum, threads);
        };
        trial.add(variant, call).excerpt("fma_chains");
    }
    trial.run();
}
template void fma<float>(bench::Trial&);
template void fma<double>(bench::Trial&);

} // namespace machine_ceilings
