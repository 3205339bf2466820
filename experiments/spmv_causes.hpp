#pragma once

#include "experiments/spmv.hpp"

#include "spmv/steps/suspects.hpp"

#include <memory>
#include <string>

/// Adds the study `name` of a cause: `measure(datasets, trial)` for each matrix of `set`.
template <class Measure>
void add_cause(bench::Experiment& experiment, sparse::Datasets& datasets, std::string const& name,
               std::string const& set, Measure measure)
{
    auto const matrices = datasets.set_beyond_cache(set, bench::host().cache_bytes());
    experiment.study(name).axis("matrix", matrices).untyped([=, &datasets](bench::Trial& trial) {
        measure(datasets, trial);
    });
}

/// Adds a variant that calls `multiply(a, x, y)` with the matrix `change` makes of the one of
/// `problem`, from which a suspect is taken, and is held to the product of that.
template <class T, class Change, class Multiply>
bench::Variant& add_changed(bench::Trial& trial, Problem<T>& problem, std::string const& name,
                            Change change, Multiply multiply)
{
    return trial.add(name, [=, &problem](bench::Variant& variant) {
        auto const a = std::make_shared<sparse::Csr<T> const>(change(problem.a));
        auto const x = problem.x.on();
        auto const y = variant.output<T>(static_cast<std::size_t>(a->rows));
        y.expect([=] { return spmv::expected<T>(*a, x); });
        return [=, y = y.on()] { multiply(*a, x, y); };
    });
}

/// Adds a product with the matrix of `problem` as it is stored, of `text`, and without row ends
/// that cannot be predicted, without jumps in `x`, and without either.
template <class T, class Multiply>
void add_suspects(bench::Trial& trial, Problem<T>& problem, std::string const& text,
                  Multiply multiply)
{
    auto const add = [&](std::string const& name, auto change) -> bench::Variant& {
        return add_changed(trial, problem, name, change, multiply).group("suspect");
    };
    add("as_stored", [](auto const& a) { return a; }).excerpt(text);
    add("equal_rows", spmv::equal_rows<T>);
    add("x_in_order", spmv::x_in_order<T>);
    add("equal_rows_x_in_order", [](auto const& a) {
        return spmv::x_in_order(spmv::equal_rows(a));
    }).excerpt("x_in_order");
}
