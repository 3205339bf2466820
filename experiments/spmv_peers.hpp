#pragma once

#include "experiments/spmv.hpp"

#include "peers/spmv.hpp"

/// Adds the foreign libraries to the variants of `problem`, in group "peer", and records their
/// versions. A library that is absent, or not made for the matrix, is skipped with the reason.
template <class T>
void add_peers(bench::Experiment& experiment, bench::Trial& trial, Problem<T>& problem,
               peers::Tuning tuning = peers::Tuning::on)
{
    auto const search = trial.is_timed() ? tuning : peers::Tuning::off;
    for (auto const& peer : peers::spmv_peers<T>({trial.threads(), search})) {
        auto const convert = [peer, &problem](bench::Variant& variant) {
            return [x = problem.x.on(), y = problem.y.on(),
                    held = variant.keep(peer.make(problem.a))] { (*held)(x, y); };
        };
        trial.add(peer, convert).group("peer");
        experiment.library(peer.name, peer.version);
    }
}
