#pragma once

#include "experiments/spmv_peers.hpp"

#include "spmv/plan.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

/// The variants of this experiment: every format by itself, and what chooses among them.
namespace formats {

/// A variant that multiplies by a plan.
template <class T>
auto by_plan(Problem<T>& problem, spmv::PlanOptions const& options, double bytes_of_tiles_in_csr)
{
    return [=, &problem](bench::Variant& variant) {
        try {
            auto const plan = variant.keep(spmv::Plan<T>{problem.a, options});
            variant.note(plan->explain());
            variant.count("bytes_of_tiles_in_csr", bytes_of_tiles_in_csr);
            return [plan, x = problem.x.on(), y = problem.y.on()] { (*plan)(x, y); };
        } catch (std::length_error const& refusal) {
            variant.not_applicable(refusal.what());
        }
    };
}

/// Of some matrices only claims about CSR, runs and tiles are asked: whether these name a format,
/// of matrices of the sweep or of a class.
inline bool is_in_brief(std::string_view format, std::string_view matrix)
{
    if (format == "csr" || format == "csrl") {
        return true;
    }
    bool const is_of_runs = format == "packed_csrl" || format == "masked_blocks";
    return matrix.starts_with("runs-") ? is_of_runs : format.starts_with("blocked_coo");
}

inline constexpr auto not_asked = "no claim asks it of this matrix";

/// Every format by itself, `planned(name)`.
template <class Planned>
void add_formats(bench::Trial& trial, bool is_brief, Planned planned)
{
    for (auto const& format : spmv::plan_formats()) {
        auto const name = std::string{format.name};
        if (is_brief && !is_in_brief(name, trial.text("matrix"))) {
            trial.skip(name, not_asked).group("format");
        } else {
            trial.add(name, planned(name)).excerpt(std::string{format.excerpt}).group("format");
        }
    }
}

/// Leaves out what chooses among formats.
template <class T>
void skip_choices(bench::Trial& trial)
{
    trial.skip("plan", not_asked).group("plan");
    trial.skip("plan_untimed", not_asked).group("plan");
    for (auto const& peer : peers::spmv_peers<T>({trial.threads(), peers::Tuning::off})) {
        auto const reason = peer.missing.empty() ? not_asked : std::string{peer.missing};
        trial.skip(std::string{peer.name}, reason).group("peer");
    }
}

} // namespace formats
