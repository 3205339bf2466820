#include "bench/experiment.hpp"
#include "kernels.hpp"

#include <cstdint>
#include <span>
#include <vector>

/// Does adding three arrays in one pass pay, against two?
int main(int argc, char** argv)
{
    bench::AxisValues elements;
    elements.tiny = {std::int64_t{1000}};
    elements.quick = {std::int64_t{1} << 12, std::int64_t{1} << 22};
    elements.full = {std::int64_t{1} << 12, std::int64_t{1} << 26};

    bench::Experiment experiment{"@NAME@", argc, argv};
    experiment.axis("elements", elements);

    return experiment.each<float, double>(
        []<class T>(bench::Point const& at, bench::Trial<T>& trial) {
            auto const count = static_cast<std::size_t>(at.integer("elements"));
            std::span<T const> const a = trial.input(count);
            std::span<T const> const b = trial.input(count);
            std::span<T const> const c = trial.input(count);
            std::vector<T> sum(count);

            auto const n = static_cast<double>(count);
            trial.work({.flops = 2 * n, .bytes = 4 * n * sizeof(T)});
            trial.output(std::span<T>{sum});
            trial.expect([=] { return expected_sums(a, b, c); });

            auto& fused = trial.add("one-pass", [=, &sum] { one_pass<T>(a, b, c, sum); });
            fused.excerpt("@NAME@-one-pass");
            auto& split = trial.add("two-passes", [=, &sum] { two_passes<T>(a, b, c, sum); });
            split.excerpt("@NAME@-two-passes");
            trial.run();
        });
}
