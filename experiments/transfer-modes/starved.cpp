#include "problem.hpp"
#include "studies.hpp"

#include "machine/limits.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace transfer_modes {

namespace {

/// What is left of the host when so much of its memory is locked: fresh memory is touched, and
/// memory that is there is read.
void starved(Trial& trial)
{
    auto const locked = static_cast<std::size_t>(trial.integer("locked_mebibytes")) << 20;
    auto const bytes = static_cast<std::size_t>(trial.integer("mebibytes")) << 20;
    auto const free = machine::available_memory_bytes();
    if (2 * locked + 4 * bytes > free) {
        trial.not_applicable("more than half of the free memory would be locked");
    }
    auto const pages = std::make_shared<cuda::Pinned<std::byte>>(std::max<std::size_t>(1, locked));
    auto const x = trial.input<float>(bytes / sizeof(float));
    auto const y = trial.output<float>(x.size());
    y.expect(1, [x](std::size_t first, std::span<double> value, std::span<double> bound) {
        std::ranges::copy(x.on().subspan(first, value.size()), value.begin());
        std::ranges::fill(bound, 0.0);
    });
    trial.work({.bytes = 2.0 * static_cast<double>(bytes)});
    //! [copy_on_host]
    auto const copy = [x = x.on(), y = y.on(), pages] {
        std::memcpy(y.data(), x.data(), x.size_bytes());
    };
    //! [copy_on_host]
    //! [fresh_memory]
    auto const fresh_memory = [x = x.on(), y = y.on(), pages] {
        std::vector<float> const fresh{x.begin(), x.end()};
        std::memcpy(y.data(), fresh.data(), x.size_bytes());
    };
    //! [fresh_memory]
    trial.add("copy_on_host", copy).on(bench::host());
    trial.add("fresh_memory", fresh_memory).on(bench::host());
    trial.run();
}

} // namespace

void add_starved(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    bench::AxisValues locked;
    locked.tiny = {std::int64_t{0}, std::int64_t{1}};
    locked.quick = {std::int64_t{0}, std::int64_t{4096}};
    locked.full = {std::int64_t{0}, std::int64_t{4096}};
    auto& study = experiment.study("starved").on(gpu);
    study.axis("mebibytes", mebibytes(1, 64, 128)).axis("locked_mebibytes", locked);
    study.untyped([](Trial& trial) {
        starved(trial); // on the host, but pages are locked by the driver
    });
}

} // namespace transfer_modes
