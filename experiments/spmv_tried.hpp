#pragma once

#include "experiments/spmv.hpp"

#include "spmv/tried/tried.hpp"

#include <string>
#include <type_traits>

/// What the option `--tried` says.
inline constexpr auto tried_help = "somebody's own product, as `just try` compiles it";

/// Adds the product in a shared object of `just try` to the variants of `problem`, if one is named;
/// it is in double precision.
template <class T>
void add_tried(bench::Trial& trial, Problem<T>& problem, std::string const& file)
{
    if constexpr (std::is_same_v<T, double>) {
        if (!file.empty()) {
            auto const call = [product = spmv::Tried{file}, &a = problem.a, x = problem.x.on(),
                               y = problem.y.on()] { product(a, x, y); };
            trial.add("yours", call).group("yours");
        }
    }
}
