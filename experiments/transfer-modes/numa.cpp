#include "copies.hpp"
#include "studies.hpp"

#include "machine/topology.hpp"
#include "transfer/placed.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace transfer_modes {

/// Locked pages of each NUMA node.
void add_numa(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("numa").on(gpu);
    study.axis("direction", {"to_device", "to_host"});
    study.axis("bytes", sizes({65'536}, {67'108'864}, {67'108'864}));
    study.untyped([&gpu](Trial& trial) {
        auto const& nodes = machine::topology().memory_nodes;
        if (nodes.size() < 2) {
            trial.not_applicable("memory of one NUMA node may be used");
        }
        std::vector<Mode> modes;
        for (int const node : nodes) {
            //! [numa]
            auto const on_node = [node](std::size_t count) {
                auto const memory = std::make_shared<transfer::Placed>(count * sizeof(float), node);
                auto const pages = std::make_shared<cuda::Registered>(memory->span());
                using Kept = std::pair<decltype(memory), decltype(pages)>;
                return HostArray{std::make_shared<Kept>(memory, pages),
                                 {reinterpret_cast<float*>(memory->span().data()), count}};
            };
            //! [numa]
            modes.push_back({"node" + std::to_string(node), "numa", on_node});
        }
        compare(trial, gpu, modes);
    });
}

} // namespace transfer_modes
