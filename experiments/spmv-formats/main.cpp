#include "experiments/spmv.hpp"

#include "ceilings/probes.hpp"
#include "ceilings/topology.hpp"
#include "peers/spmv.hpp"
#include "spmv/plan.hpp"
#include "spmv/serial.hpp"

/// Sparse formats: which one moves the fewest bytes, and does it pay?
int main(int argc, char** argv)
{
    sparse::Datasets datasets;
    bench::Experiment experiment{"spmv-formats", argc, argv};
    experiment.axis("matrix", datasets.set("formats"));
    experiment.ceiling([cache = ceilings::last_level_cache_bytes()](int threads) {
        return ceilings::Read{threads, cache};
    });

    return experiment.each<float, double>([&]<class T>(bench::Point const& at,
                                                       bench::Trial<T>& trial) {
        Problem<T> problem{datasets, at, trial};
        auto& [a, x, y] = problem;
        auto const planned = [&](std::string const& format) {
            return [&, format](bench::Setup& setup) {
                spmv::PlanOptions const options{.threads = trial.threads(), .format = format};
                auto const plan = setup.keep(spmv::Plan<T>{a, options});
                setup.note(plan->explain());
                return [&, plan] { (*plan)(x, y); };
            };
        };

        for (auto const& format : spmv::plan_formats()) {
            trial.add(format.name, planned(format.name)).excerpt(format.excerpt).group("format");
        }
        trial.add("plan", planned("")).group("plan");
        for (auto const& peer : peers::spmv_peers<T>(trial.threads())) {
            auto const convert = [&](bench::Setup& setup) {
                return [&, held = setup.keep(peer.make(a))] { (*held)(x, y); };
            };
            trial.add(peer, convert).group("peer");
            experiment.library(peer.name, peer.version);
        }
        trial.run();
    });
}
