#pragma once

#include "experiments/spmv.hpp"

#include "peers/spmv.hpp"

/// Adds the foreign libraries to the variants of `problem`, in group "peer", and records their
/// versions. A library that is absent, or not made for the matrix, is skipped with the reason.
template <class T>
void add_peers(bench::Experiment& experiment, bench::Trial<T>& trial, Problem<T>& problem,
               peers::Tuning tuning = peers::Tuning::on)
{
    auto const search = trial.is_timed() ? tuning : peers::Tuning::off;
    for (auto const& peer : peers::spmv_peers<T>({trial.threads(), search})) {
        auto const convert = [peer, &problem](bench::Setup& setup) {
            try {
                return [&problem, held = setup.keep(peer.make(problem.a))] {
                    (*held)(problem.x, problem.y);
                };
            } catch (peers::NotApplicable const& reason) {
                setup.not_applicable(reason.what());
            }
        };
        trial.add(peer, convert).group("peer");
        experiment.library(peer.name, peer.version);
    }
}
