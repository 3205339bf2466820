#include "copies.hpp"

#include "cuda/buffer.hpp"
#include "transfer/held_clock.hpp"

#include <memory>
#include <span>

namespace transfer_modes {

namespace {

/// A wall clock, or the one that holds the stream: of one call, so that the queue does not fill.
void choose_clock(Problem const& p, Variant& variant, Mode const& mode, transfer::HeldClock& held)
{
    if (mode.held) {
        variant.clock(held);
        variant.on_reset([] {});
    } else {
        variant.clock(p.gpu.wall());
    }
}

/// A wall clock counts until all is done; the clock that holds a stream must not wait in a batch.
void finish(Mode const& mode, cuda::Gpu& gpu)
{
    if (!mode.held) {
        gpu.finish();
    }
}

void add_to_device(Problem const& p, Mode const& mode, transfer::HeldClock& held,
                   bench::Output<float> const& y)
{
    p.trial
        .add(mode.name,
             [p, mode, &held, y](Variant& variant) {
                 choose_clock(p, variant, mode, held);
                 auto const array = p.filled(variant, mode.array(p.count));
                 Ends const ends{y.on(p.gpu).data(), array.span.data(), p.count};
                 return [array, ends, way = mode.way(), mode, &gpu = p.gpu] {
                     way.to_device(ends, gpu.stream());
                     finish(mode, gpu);
                 };
             })
        .on(p.gpu)
        .group(mode.group)
        .excerpt(mode.excerpt);
}

void add_to_host(Problem const& p, Mode const& mode, transfer::HeldClock& held)
{
    p.trial
        .add(mode.name,
             [p, mode, &held](Variant& variant) {
                 choose_clock(p, variant, mode, held);
                 auto const array = mode.array(p.count);
                 p.expect(variant.output<float>(array.span));
                 auto* const device = const_cast<float*>(p.x.on(p.gpu).data()); // it is only read
                 Ends const ends{device, array.span.data(), p.count};
                 return [array, ends, way = mode.way(), mode, &gpu = p.gpu] {
                     way.to_host(ends, gpu.stream());
                     finish(mode, gpu);
                 };
             })
        .on(p.gpu, bench::host())
        .group(mode.group)
        .excerpt(mode.excerpt);
}

/// Both directions at once: the same number of bytes each way.
void add_both(Problem const& p, Mode const& mode, transfer::HeldClock& held)
{
    p.trial
        .add(mode.name,
             [p, mode, &held](Variant& variant) {
                 if (!mode.both_ways) {
                     variant.not_applicable("copies one way at a time");
                 }
                 choose_clock(p, variant, mode, held);
                 auto const there = p.filled(variant, mode.array(p.count));
                 auto const back = mode.array(p.count);
                 auto const arrived = std::make_shared<cuda::Buffer<float>>(p.count);
                 p.expect(variant.output<float>(arrived->span(), p.gpu));
                 if (!mode.held) { // else the other direction may end later
                     p.expect(variant.output<float>(back.span));
                 }
                 auto* const device = const_cast<float*>(p.x.on(p.gpu).data());
                 Ends const out{arrived->data(), there.span.data(), p.count};
                 Ends const home{device, back.span.data(), p.count};
                 auto const other = std::make_shared<cuda::Stream>();
                 auto const begun = std::make_shared<cuda::Event>();
                 return [=, way = mode.way(), &gpu = p.gpu] {
                     static_cast<void>(there), static_cast<void>(back), static_cast<void>(arrived);
                     if (mode.held) {
                         begun->record(gpu.stream());
                         other->wait_for(*begun);
                         way.to_host(home, *other);
                         way.to_device(out, gpu.stream());
                         return;
                     }
                     gpu.forked(2, [&](std::span<cuda::Stream const> streams) {
                         way.to_device(out, streams[0]);
                         way.to_host(home, streams[1]);
                     });
                     gpu.finish();
                 };
             })
        .on(p.gpu)
        .group(mode.group)
        .excerpt(mode.excerpt);
}

} // namespace

Way staged(transfer::StagedCopyOptions const& options)
{
    auto const copy = std::make_shared<transfer::StagedCopy>(options);
    return {[copy](Ends const& ends, cuda::Stream const& stream) {
                copy->to_device(ends.device, ends.host, ends.bytes(), stream.get());
            },
            [copy](Ends const& ends, cuda::Stream const& stream) {
                copy->to_host(ends.host, ends.device, ends.bytes(), stream.get());
            }};
}

void compare(Trial& trial, cuda::Gpu& gpu, std::vector<Mode> const& modes)
{
    auto const direction = trial.text("direction");
    Problem const p{trial, gpu, static_cast<std::size_t>(trial.integer("bytes"))};
    double const ways = direction == "both" ? 2 : 1;
    trial.work({.bytes = ways * static_cast<double>(p.count * sizeof(float))});
    transfer::HeldClock held{gpu.stream()};
    if (direction == "to_device") {
        auto const y = trial.output<float>(p.count);
        p.expect(y);
        for (auto const& mode : modes) {
            add_to_device(p, mode, held, y);
        }
        trial.run();
        return;
    }
    for (auto const& mode : modes) {
        direction == "both" ? add_both(p, mode, held) : add_to_host(p, mode, held);
    }
    trial.run();
}

} // namespace transfer_modes
