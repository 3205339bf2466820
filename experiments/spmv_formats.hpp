#pragma once

#include "experiments/spmv.hpp"

#include "spmv/formats/kernels.hpp"
#include "spmv/plan.hpp"

#include <stdexcept>
#include <string>

/// What a trial asks of a plan. A set of kernels that this processor has not is refused.
template <class T>
spmv::PlanOptions plan_options(bench::Trial& trial, std::string const& kernels)
{
    spmv::format_kernels<T>(kernels);
    return {.threads = trial.threads(), .cold = trial.is_cold(), .kernels = kernels};
}

/// A variant that multiplies by a plan; it is skipped where the format that is asked for cannot
/// hold the matrix.
template <class T>
auto by_plan(Problem<T>& problem, spmv::PlanOptions const& options)
{
    return [=, &problem](bench::Variant& variant) {
        try {
            auto const plan = variant.keep(spmv::Plan<T>{problem.a, options});
            variant.note(plan->explain());
            return [plan, x = problem.x.on(), y = problem.y.on()] { (*plan)(x, y); };
        } catch (std::length_error const& refusal) {
            variant.not_applicable(refusal.what());
        }
    };
}

/// Adds a format, which multiplies as a plan of it does, in group "format".
template <class T>
bench::Variant& add_format(bench::Trial& trial, Problem<T>& problem, spmv::FormatName const& format,
                           std::string const& kernels)
{
    auto options = plan_options<T>(trial, kernels);
    options.format = format.name;
    return trial.add(std::string{format.name}, by_plan(problem, options))
        .excerpt(std::string{format.excerpt})
        .group("format");
}
