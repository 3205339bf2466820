#include "copies.hpp"
#include "studies.hpp"

#include <string>
#include <utility>
#include <vector>

namespace transfer_modes {

/// Our copy of pageable memory by one to eight threads, between the runtime's and locked pages; and
/// by eight with other stores, with small chunks, and with as small ones in a buffer that fits into
/// their caches.
void add_staged(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    constexpr auto MiB = std::size_t{1} << 20;
    std::vector<std::pair<std::string, transfer::StagedCopyOptions>> const ours{
        {"staged1", {.threads = 1}},
        {"staged2", {.threads = 2}},
        {"staged4", {.threads = 4}},
        {"staged8", {.threads = 8}},
        {"staged8_cached", {.threads = 8, .stores = transfer::Stores::cached}},
        {"staged8_past_caches", {.threads = 8, .stores = transfer::Stores::past_caches}},
        {"staged8_small_chunks", {.threads = 8, .chunk_bytes = MiB, .chunks = 32}},
        {"staged8_small_buffer", {.threads = 8, .chunk_bytes = MiB, .chunks = 8}},
    };
    auto& study = experiment.study("staged").on(gpu);
    study.axis("direction", {"to_device", "to_host"});
    study.axis("bytes", sizes({65'536}, {67'108'864, 268'435'456},
                              {4'194'304, 67'108'864, 268'435'456, 536'870'912}));
    study.untyped([&gpu, ours](Trial& trial) {
        std::vector<Mode> modes{{"pageable", "pageable", pageable},
                                {"malloc_host", "malloc_host", malloc_host}};
        for (auto const& [name, options] : ours) {
            modes.push_back({.name = name,
                             .excerpt = "staged",
                             .array = pageable,
                             .way = [options = options] { return staged(options); },
                             .group = "library"});
        }
        compare(trial, gpu, modes);
    });
}

} // namespace transfer_modes
