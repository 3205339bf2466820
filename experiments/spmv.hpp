#pragma once

#include "bench/experiment.hpp"
#include "sparse/catalogue/datasets.hpp"
#include "spmv/steps/reference.hpp"

#include <string>

/// The operands of `y = A x` at one point of an SpMV experiment, declared to its trial: work,
/// expected result and what identifies the matrix.
template <class T>
struct Problem
{
    Problem(sparse::Datasets& datasets, bench::Trial& trial)
        : a{datasets.load<T>(trial.text("matrix"), trial.fill())},
          x{trial.input<T>(static_cast<std::size_t>(a.columns))},
          y{trial.output<T>(static_cast<std::size_t>(a.rows))}
    {
        auto const& name = trial.text("matrix");
        auto const& description = datasets.description(name);
        trial.dataset(name, description.sha256, description.features);
        trial.work(spmv::work<T>(a));
        if (datasets.stands_for_larger(name)) {
            trial.cache(bench::Cache::cold, bench::host());
        }
        y.expect([this] { return spmv::expected<T>(a, x); });
    }
    Problem(Problem const&) = delete;
    Problem& operator=(Problem const&) = delete;

    sparse::Csr<T> a;
    bench::Input<T> x;  ///< a.columns elements, new before every check
    bench::Output<T> y; ///< a.rows elements
};
