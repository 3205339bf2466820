#include "studies.hpp"

#include "cuda/buffer.hpp"
#include "cuda/error.hpp"
#include "cuda/graph.hpp"
#include "cuda/pinned.hpp"
#include "transfer/kernels.hpp"
#include "transfer/pipeline.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// The article's second program: one array goes to the device, through a kernel and back, in chunks
/// over eight streams.
namespace transfer_streams {

namespace {

using bench::Trial;
using bench::Variant;

constexpr std::size_t most_streams = 8;

/// An array in locked pages, where it comes back to, and where it is on the device.
struct Whole
{
    cuda::Pinned<float> in;
    cuda::Pinned<float> out;
    cuda::Buffer<float> device;

    explicit Whole(std::size_t count) : in{count}, out{count}, device{count} {}
};

/// A part of the whole, and the three things to do with it.
struct Chunk
{
    float const* in;
    float* out;
    float* device;
    std::size_t first;
    std::size_t count;

    std::size_t bytes() const { return count * sizeof(float); }

    void to_device(cudaStream_t stream) const
    {
        cuda::check(cudaMemcpyAsync(device, in, bytes(), cudaMemcpyHostToDevice, stream));
    }
    void kernel(cudaStream_t stream) const
    {
        transfer::add_one_by_sines(device, device, first, count, stream);
    }
    void to_host(cudaStream_t stream) const
    {
        cuda::check(cudaMemcpyAsync(out, device, bytes(), cudaMemcpyDeviceToHost, stream));
    }
};

/// Chunks of almost one size.
std::vector<Chunk> cut(std::span<float const> in, std::span<float> out, float* device,
                       std::size_t chunks)
{
    std::vector<Chunk> parts;
    for (std::size_t i = 0; i < chunks; ++i) {
        auto const first = in.size() * i / chunks;
        auto const end = in.size() * (i + 1) / chunks;
        parts.push_back(
            {in.data() + first, out.data() + first, device + first, first, end - first});
    }
    return parts;
}

using Streams = std::span<cudaStream_t const>;

//! [one_loop]
inline void one_loop(std::vector<Chunk> const& chunks, Streams streams)
{
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        auto const stream = streams[i % streams.size()];
        chunks[i].to_device(stream);
        chunks[i].kernel(stream);
        chunks[i].to_host(stream);
    }
}
//! [one_loop]

//! [three_loops]
inline void three_loops(std::vector<Chunk> const& chunks, Streams streams)
{
    for (auto const step : {&Chunk::to_device, &Chunk::kernel, &Chunk::to_host}) {
        for (std::size_t i = 0; i < chunks.size(); ++i) {
            (chunks[i].*step)(streams[i % streams.size()]);
        }
    }
}
//! [three_loops]

using Loop = void (*)(std::vector<Chunk> const&, Streams);

/// Issues chunks in so many streams that fork from the target's and join it.
void issue(cuda::Gpu& gpu, std::vector<Chunk> const& chunks, Loop loop)
{
    gpu.forked(std::min(chunks.size(), most_streams), [&](std::span<cuda::Stream const> streams) {
        std::vector<cudaStream_t> raw;
        for (auto const& stream : streams) {
            raw.push_back(stream.get());
        }
        loop(chunks, raw);
    });
}

/// What a trial of this program has.
struct Program
{
    Trial& trial;
    cuda::Gpu& gpu;
    std::shared_ptr<Whole> whole;
    bench::Input<float> x;

    Program(Trial& t, cuda::Gpu& g)
        : trial{t}, gpu{g}, whole{std::make_shared<Whole>(
                                static_cast<std::size_t>(t.integer("mebibytes")) << 18)},
          x{t.input<float>(whole->in.span())}
    {
        auto const y = trial.output<float>(whole->out.span());
        expect_one_more(y);
        trial.work({.bytes = 2.0 * static_cast<double>(y.size() * sizeof(float))});
        trial.inexact("a sine is no number that a computer can hold");
    }

    std::size_t count() const { return x.size(); }
    std::size_t chunks() const { return static_cast<std::size_t>(trial.integer("chunks")); }

    std::vector<Chunk> parts(std::size_t number) const
    {
        return cut(whole->in.span(), whole->out.span(), whole->device.data(), number);
    }

    /// x + 1: the sum of two squares is 1 within some roundings, its root too, and so is the sum.
    void expect_one_more(bench::Output<float> const& y) const
    {
        y.expect(1, [x = x](std::size_t first, std::span<double> value, std::span<double> bound) {
            for (std::size_t i = 0; i < value.size(); ++i) {
                auto const from = static_cast<double>(x.on()[first + i]);
                value[i] = from + 1;
                bound[i] = 0x1p-24 * (8 + std::abs(from) + 1);
            }
        });
    }

    /// x itself.
    void expect_same(bench::Output<float> const& y) const
    {
        y.expect(1, [x = x](std::size_t first, std::span<double> value, std::span<double> bound) {
            std::ranges::copy(x.on().subspan(first, value.size()), value.begin());
            std::ranges::fill(bound, 0.0);
        });
    }

    Variant& add(std::string const& name, std::function<Variant::Call(Variant&)> setup) const
    {
        auto const timed = [setup = std::move(setup), &gpu = gpu](Variant& variant) {
            variant.clock(gpu.wall());
            return setup(variant);
        };
        return trial.add(name, timed).on(gpu, bench::host());
    }
};

/// One copy there, one kernel, one copy back; and the article's two ways to issue chunks.
void add_loops(Program const& p)
{
    auto const with = [&p](std::size_t chunks, Loop loop) {
        return [p, chunks, loop](Variant&) -> Variant::Call {
            return [&gpu = p.gpu, whole = p.whole, parts = p.parts(chunks), loop] {
                issue(gpu, parts, loop);
            };
        };
    };
    p.add("sequential", with(1, one_loop)).excerpt("one_loop");
    p.add("one_loop", with(p.chunks(), one_loop));
    p.add("three_loops", with(p.chunks(), three_loops));
}

/// One loop, captured once and replayed.
void add_graph(Program const& p)
{
    //! [graph]
    p.add("graph", [p](Variant&) -> Variant::Call {
        auto const parts = p.parts(p.chunks());
        auto const graph = std::make_shared<cuda::Graph const>(
            p.gpu.stream(), [&] { issue(p.gpu, parts, one_loop); });
        return [&gpu = p.gpu, whole = p.whole, graph] { graph->replay(gpu.stream()); };
    });
    //! [graph]
}

/// The library's pipeline: a stream for each engine.
void add_pipeline(Program const& p)
{
    p.add("pipeline", [p](Variant&) -> Variant::Call {
         auto const chunk = (p.count() + p.chunks() - 1) / p.chunks();
         auto const pipeline = std::make_shared<transfer::Pipeline<float>>(chunk);
         //! [use_pipeline]
         return [&gpu = p.gpu, whole = p.whole, pipeline] {
             (*pipeline)(
                 whole->in.span(), whole->out.span(),
                 [](std::span<float const> in, std::span<float> out, std::size_t first,
                    cudaStream_t stream) {
                     transfer::add_one_by_sines(in.data(), out.data(), first, in.size(), stream);
                 },
                 gpu.stream().get());
         };
         //! [use_pipeline]
     }).group("library");
}

/// What the bus allows: all bytes both ways at once, without kernels; and with the first chunk's
/// way there and the last one's way back, which nothing can overlap.
void add_bounds(Program const& p)
{
    auto const add = [&p](std::string const& name, std::size_t chunks) {
        p.add(name,
              [p, chunks](Variant& variant) -> Variant::Call {
                  auto const arrived = std::make_shared<cuda::Buffer<float>>(p.count());
                  auto const origin = std::make_shared<cuda::Buffer<float>>(p.count());
                  p.expect_same(variant.output<float>(arrived->span(), p.gpu));
                  p.expect_same(variant.output<float>(p.whole->out.span()));
                  auto const fill = [x = p.x, origin] { origin->upload(x.on()); };
                  fill();
                  variant.on_refill(fill);
                  auto const there = cut(p.whole->in.span(), p.whole->out.span(), arrived->data(),
                                         std::max<std::size_t>(1, chunks));
                  auto const back = cut(p.whole->in.span(), p.whole->out.span(), origin->data(),
                                        std::max<std::size_t>(1, chunks));
                  return [&gpu = p.gpu, arrived, origin, there, back, chunks] {
                      auto const alone = chunks == 0 ? 0 : std::size_t{1};
                      //! [duplex]
                      if (alone == 1) {
                          there.front().to_device(gpu.stream().get());
                      }
                      gpu.forked(2, [&](std::span<cuda::Stream const> streams) {
                          for (std::size_t i = alone; i < there.size(); ++i) {
                              there[i].to_device(streams[0].get());
                          }
                          for (std::size_t i = 0; i + alone < back.size(); ++i) {
                              back[i].to_host(streams[1].get());
                          }
                      });
                      if (alone == 1) {
                          back.back().to_host(gpu.stream().get());
                      }
                      //! [duplex]
                  };
              })
            .group("bound")
            .excerpt("duplex");
    };
    add("duplex", 0);
    add("duplex_and_fill", p.chunks());
}

/// One loop with what it must not have: pageable memory, or the default stream.
void add_wrong_choices(Program const& p)
{
    //! [pageable_chunks]
    p.add("pageable", [p](Variant& variant) -> Variant::Call {
         auto const in = std::make_shared<std::vector<float>>(p.count());
         auto const out = std::make_shared<std::vector<float>>(p.count());
         p.expect_one_more(variant.output<float>(std::span{*out}));
         auto const fill = [x = p.x, in] { std::ranges::copy(x.on(), in->begin()); };
         fill();
         variant.on_refill(fill);
         return [&gpu = p.gpu, whole = p.whole, in, out,
                 parts = cut(*in, *out, p.whole->device.data(), p.chunks())] {
             issue(gpu, parts, one_loop);
         };
     }).excerpt("pageable_chunks");
    //! [pageable_chunks]
    //! [default_stream]
    p.add("default_stream", [p](Variant&) -> Variant::Call {
        return [&gpu = p.gpu, whole = p.whole, parts = p.parts(p.chunks())] {
            cudaStream_t const one = nullptr;
            one_loop(parts, {&one, 1});
            cuda::check(cudaStreamSynchronize(one));
        };
    });
    //! [default_stream]
}

bench::AxisValues chunk_numbers(std::vector<std::int64_t> const& tiny,
                                std::vector<std::int64_t> const& quick,
                                std::vector<std::int64_t> const& full)
{
    bench::AxisValues values;
    values.tiny.assign(tiny.begin(), tiny.end());
    values.quick.assign(quick.begin(), quick.end());
    values.full.assign(full.begin(), full.end());
    values.require = [](bench::Parameter const& value) {
        if (std::get<std::int64_t>(value) < 1) {
            throw std::invalid_argument{"--chunks: expected at least 1"};
        }
    };
    return values;
}

bench::AxisValues array_sizes(std::int64_t quick, std::int64_t full)
{
    bench::AxisValues values;
    values.tiny = {std::int64_t{1}};
    values.quick = {quick};
    values.full = {full};
    return values;
}

} // namespace

void add_chunks(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("chunks").on(gpu).axis("mebibytes", array_sizes(96, 512));
    study.axis("chunks", chunk_numbers({1, 4}, {1, 2, 4, 8, 32}, {1, 4, 8, 32}));
    study.untyped([&gpu](Trial& trial) {
        Program const p{trial, gpu};
        add_loops(p);
        add_graph(p);
        add_pipeline(p);
        add_bounds(p);
        trial.run();
    });
    auto& needs = experiment.study("needs").on(gpu).axis("mebibytes", array_sizes(64, 256));
    needs.axis("chunks", chunk_numbers({4}, {8}, {8}));
    needs.untyped([&gpu](Trial& trial) {
        Program const p{trial, gpu};
        add_loops(p);
        add_wrong_choices(p);
        trial.run();
    });
}

} // namespace transfer_streams
