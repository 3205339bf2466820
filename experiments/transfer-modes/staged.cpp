#include "copies.hpp"
#include "studies.hpp"

#include <string>
#include <vector>

namespace transfer_modes {

/// Our copy of pageable memory by one to eight threads, between the runtime's and locked pages.
void add_staged(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("staged").on(gpu);
    study.axis("direction", {"to_device", "to_host"});
    study.axis("bytes", sizes({65'536}, {67'108'864}, {67'108'864, 268'435'456}));
    study.untyped([&gpu](Trial& trial) {
        std::vector<Mode> modes{{"pageable", "pageable", pageable},
                                {"malloc_host", "malloc_host", malloc_host}};
        for (int const threads : {1, 2, 4, 8}) {
            modes.push_back({.name = "staged" + std::to_string(threads),
                             .excerpt = "staged",
                             .array = pageable,
                             .way = [threads] { return staged({.threads = threads}); },
                             .group = "library"});
        }
        compare(trial, gpu, modes);
    });
}

} // namespace transfer_modes
