#include "bench/experiment.hpp"
#include "kernels.hpp"

#include <cstdint>

/// Does adding three arrays in one pass pay, against two?
int main(int argc, char** argv)
{
    bench::AxisValues elements;
    elements.tiny = {std::int64_t{1000}};
    elements.quick = {std::int64_t{1} << 12, std::int64_t{1} << 22};
    elements.full = {std::int64_t{1} << 12, std::int64_t{1} << 26};

    bench::Experiment experiment{"@NAME@", argc, argv};
    auto& study = experiment.study("sum").axis("elements", elements);

    study.types<float, double>([]<class T>(bench::Trial& trial) {
        auto const count = static_cast<std::size_t>(trial.integer("elements"));
        auto const a = trial.input<T>(count).on();
        auto const b = trial.input<T>(count).on();
        auto const c = trial.input<T>(count).on();
        auto const output = trial.output<T>(count);
        auto const sum = output.on();
        output.expect([=] { return expected_sums<T>(a, b, c); });

        auto const n = static_cast<double>(count);
        trial.work({.flops = 2 * n, .bytes = 4 * n * sizeof(T)});
        auto& fused = trial.add("one_pass", [=] { one_pass<T>(a, b, c, sum); });
        fused.excerpt("@MARK@_one_pass");
        auto& split = trial.add("two_passes", [=] { two_passes<T>(a, b, c, sum); });
        split.excerpt("@MARK@_two_passes");
        trial.run();
    });
    return experiment.run();
}
