#pragma once

#include "bench/experiment.hpp"
#include "sparse/datasets.hpp"
#include "spmv/reference.hpp"

#include <span>
#include <string>
#include <vector>

/// The operands of `y = A x` at one point of an SpMV experiment, declared to its trial: work,
/// output, expected result and what identifies the matrix.
template <class T>
struct Problem
{
    Problem(sparse::Datasets& datasets, bench::Point const& at, bench::Trial<T>& trial)
        : a{datasets.load<T>(at.text("matrix"), trial.fill())}, x{trial.input(a.columns)}, y(a.rows)
    {
        auto const& description = datasets.description(at.text("matrix"));
        trial.dataset(at.text("matrix"), description.sha256, description.features);
        trial.work(spmv::work<T>(a));
        if (datasets.stands_for_larger(at.text("matrix"))) {
            trial.cache(bench::Cache::cold);
        }
        trial.output(y);
        trial.expect([this] { return spmv::expected<T>(a, x); });
    }
    Problem(Problem const&) = delete;
    Problem& operator=(Problem const&) = delete;

    sparse::Csr<T> a;
    std::span<T const> x; ///< a.columns elements, new before every check
    std::vector<T> y;     ///< a.rows elements
};
