#include "bench/experiment.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace {

//! [@NAME@-one-pass]
/// `sum = a + b + c`, each element once.
template <class T>
void one_pass(std::span<T const> a, std::span<T const> b, std::span<T const> c, std::span<T> sum)
{
    for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] = a[i] + b[i] + c[i];
    }
}
//! [@NAME@-one-pass]

//! [@NAME@-two-passes]
/// `sum = a + b`, then `sum = sum + c`.
template <class T>
void two_passes(std::span<T const> a, std::span<T const> b, std::span<T const> c, std::span<T> sum)
{
    for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] = a[i] + b[i];
    }
    for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] += c[i];
    }
}
//! [@NAME@-two-passes]

/// The sums in double precision, and what two roundings may change.
template <class T>
bench::Expected exact_sums(std::span<T const> a, std::span<T const> b, std::span<T const> c)
{
    bench::Expected expected;
    for (std::size_t i = 0; i < a.size(); ++i) {
        double const x = a[i], y = b[i], z = c[i];
        expected.value.push_back(x + y + z);
        expected.bound.push_back(2.0 * std::numeric_limits<T>::epsilon() *
                                 (std::abs(x) + std::abs(y) + std::abs(z)));
    }
    return expected;
}

} // namespace

/// Does adding three arrays in one pass pay, against two?
int main(int argc, char** argv)
{
    bench::Experiment experiment{"@NAME@", argc, argv};
    bench::AxisValues elements;
    elements.tiny = {std::int64_t{1000}};
    elements.quick = {std::int64_t{1} << 12, std::int64_t{1} << 22};
    elements.full = {std::int64_t{1} << 12, std::int64_t{1} << 25};
    experiment.axis("elements", elements);

    return experiment.each<float, double>([]<class T>(bench::Point const& at,
                                                      bench::Trial<T>& trial) {
        auto const count = static_cast<std::size_t>(at.integer("elements"));
        std::span<T const> const a = trial.input(count);
        std::span<T const> const b = trial.input(count);
        std::span<T const> const c = trial.input(count);
        std::vector<T> sum(count);

        auto const n = static_cast<double>(count);
        trial.work({.flops = 2 * n, .bytes = 4 * n * sizeof(T)});
        trial.output(std::span<T>{sum});
        trial.expect([=] { return exact_sums(a, b, c); });
        trial.add("one-pass", [&] { one_pass<T>(a, b, c, sum); }).excerpt("@NAME@-one-pass");
        trial.add("two-passes", [&] { two_passes<T>(a, b, c, sum); }).excerpt("@NAME@-two-passes");
        trial.run();
    });
}
