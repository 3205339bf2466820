#pragma once

#include "experiments/spmv.hpp"

#include "spmv/plan.hpp"

#include <stdexcept>

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
