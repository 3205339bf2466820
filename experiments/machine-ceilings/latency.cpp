#include "binary_size.hpp"
#include "studies.hpp"

#include "ceilings/latency.hpp"
#include "ceilings/reference.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace machine_ceilings {

void latency(bench::Trial& trial)
{
    if (trial.threads() != 1) {
        trial.not_applicable("a chain of loads keeps one thread busy: measured with one");
    }
    constexpr std::uint64_t steps = 1 << 16;
    constexpr std::size_t smallest = 1 << 14;
    constexpr std::size_t largest = 1 << 30;
    auto const output = trial.output<double>(1);
    trial.cache(bench::Cache::warm);
    trial.work({.operations = static_cast<double>(steps)});
    output.expect([=] { return ceilings::counted(1, static_cast<double>(steps)); });
    for (auto bytes = smallest; bytes <= largest && bytes < 16 * bench::host().cache_bytes();
         bytes *= 4) {
        auto const chase = [walked = output.on(), bytes](bench::Variant&) {
            auto const cycle = std::make_shared<ceilings::PointerChase>(bytes);
            return [walked, cycle] { walked[0] = static_cast<double>(cycle->follow(steps)); };
        };
        trial.add("chase_" + binary_size(bytes), chase).excerpt("pointer_chase");
    }
    trial.run();
}

} // namespace machine_ceilings
