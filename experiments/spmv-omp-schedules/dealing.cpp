#include "causes.hpp"

#include "spmv/steps/openmp.hpp"

namespace schedules {

namespace {

/// What the sum of all elements of `A x` must be: the product of one row that has all nonzeros.
bench::Expected expected_total(sparse::Csr<double> const& a, std::span<double const> x)
{
    auto const nonzeros = static_cast<std::int32_t>(a.nonzeros());
    return spmv::expected<double>(sparse::Csr<double>{1, a.columns, {0, nonzeros}, a.col, a.values},
                                  x);
}

} // namespace

void dealing(sparse::Datasets& datasets, bench::Trial& trial)
{
    Problem<double> problem{datasets, trial};
    auto const& a = problem.a;
    auto const x = problem.x.on();
    auto const y = problem.y.on();
    int const threads = trial.threads();
    trial.cache(bench::Cache::warm);
    auto const add_total = [&](std::string const& name, auto total) {
        auto const setup = [=, &a](bench::Variant& variant) {
            auto const output = variant.output<double>(1);
            output.expect([=, &a] { return expected_total(a, x); });
            return [=, &a, sum = output.on()] { sum[0] = total(a, x, threads); };
        };
        trial.add(name, setup).group("dealt");
    };
    trial.add("asked_rows", [=, &a] { spmv::dynamic_rows<double>(a, x, y, threads); })
        .excerpt("dynamic_rows")
        .group("dealt");
    trial.add("fixed_rows", [=, &a] { spmv::static_chunks<double>(a, x, y, threads, 1); })
        .excerpt("static_chunks")
        .group("dealt");
    trial.add("share_rows", [=, &a] { spmv::static_rows<double>(a, x, y, threads); })
        .excerpt("static_rows")
        .group("dealt");
    add_total("asked_total", spmv::asked_total<double>);
    add_total("fixed_total", spmv::fixed_total<double>);
    add_total("share_total", spmv::share_total<double>);
    trial.run();
}

} // namespace schedules
