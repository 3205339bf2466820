#include "engines.hpp"
#include "studies.hpp"

#include "cuda/buffer.hpp"
#include "cuda/error.hpp"
#include "cuda/pinned.hpp"
#include "transfer/kernels.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// The article's first program: chunks of two arrays go to the device and one comes back, in two
/// streams; only the order in which the work is issued differs.
namespace transfer_streams {

namespace {

using bench::Trial;
using bench::Variant;
using Integer = std::int32_t;

constexpr std::size_t chunk = std::size_t{1} << 20; ///< elements, as in the article

/// What variants of a trial share on the host, in locked pages.
struct Arrays
{
    cuda::Pinned<Integer> a;
    cuda::Pinned<Integer> b;
    cuda::Pinned<Integer> c;

    explicit Arrays(std::size_t count) : a{count}, b{count}, c{count} {}
};

/// Memory of the device for one chunk of each array.
struct Buffers
{
    cuda::Buffer<Integer> a{chunk};
    cuda::Buffer<Integer> b{chunk};
    cuda::Buffer<Integer> c{chunk};
};

/// The pieces of work, each for the chunk at `first` in the stream and the buffers number `s`.
class Pieces
{
public:
    Pieces(std::shared_ptr<Arrays> arrays, std::span<cuda::Stream const> streams,
           std::span<Buffers> buffers, int steps, cuda::Timeline* log)
        : arrays_{std::move(arrays)}, streams_{streams}, buffers_{buffers}, steps_{steps}, log_{log}
    {
    }

    std::size_t count() const { return arrays_->a.span().size(); }

    //! [pieces]
    void copy_a(std::size_t s, std::size_t first) const
    {
        to_device("a", s, first, arrays_->a, buffers_[s].a);
    }
    void copy_b(std::size_t s, std::size_t first) const
    {
        to_device("b", s, first, arrays_->b, buffers_[s].b);
    }
    void kernel(std::size_t s, std::size_t first) const
    {
        timed("kernels", "k", s, first, [&] {
            auto& [a, b, c] = buffers_[s];
            transfer::neighbour_sums(a.data(), b.data(), c.data(), chunk, steps_, stream(s));
        });
    }
    void copy_c(std::size_t s, std::size_t first) const
    {
        timed("to host", "c", s, first, [&] {
            cuda::check(cudaMemcpyAsync(arrays_->c.span().data() + first, buffers_[s].c.data(),
                                        chunk * sizeof(Integer), cudaMemcpyDeviceToHost,
                                        stream(s)));
        });
    }
    //! [pieces]

private:
    cudaStream_t stream(std::size_t s) const { return streams_[s % streams_.size()].get(); }

    void to_device(char const* name, std::size_t s, std::size_t first, cuda::Pinned<Integer>& from,
                   cuda::Buffer<Integer>& to) const
    {
        timed("to device", name, s, first, [&] {
            cuda::check(cudaMemcpyAsync(to.data(), from.span().data() + first,
                                        chunk * sizeof(Integer), cudaMemcpyHostToDevice,
                                        stream(s)));
        });
    }

    void timed(char const* engine, std::string const& name, std::size_t s, std::size_t first,
               std::function<void()> const& issue) const
    {
        if (log_ == nullptr) {
            issue();
        } else {
            log_->span(engine, name + std::to_string(first / chunk), streams_[s % streams_.size()],
                       issue);
        }
    }

    std::shared_ptr<Arrays> arrays_;
    std::span<cuda::Stream const> streams_;
    std::span<Buffers> buffers_;
    int steps_;
    cuda::Timeline* log_;
};

//! [depth_first]
/// All of one chunk, then all of the next.
inline void depth_first(Pieces const& on)
{
    for (std::size_t first = 0; first < on.count(); first += 2 * chunk) {
        for (std::size_t const s : {0, 1}) {
            on.copy_a(s, first + s * chunk);
            on.copy_b(s, first + s * chunk);
            on.kernel(s, first + s * chunk);
            on.copy_c(s, first + s * chunk);
        }
    }
}
//! [depth_first]

//! [breadth_first]
/// Each piece for both chunks, then the next piece.
inline void breadth_first(Pieces const& on)
{
    for (std::size_t first = 0; first < on.count(); first += 2 * chunk) {
        for (auto const piece :
             {&Pieces::copy_a, &Pieces::copy_b, &Pieces::kernel, &Pieces::copy_c}) {
            for (std::size_t const s : {0, 1}) {
                (on.*piece)(s, first + s * chunk);
            }
        }
    }
}
//! [breadth_first]

//! [articles_order]
/// The order of the article's listing, which it calls depth-first: both copies back come last.
inline void articles_order(Pieces const& on)
{
    for (std::size_t first = 0; first < on.count(); first += 2 * chunk) {
        for (std::size_t const s : {0, 1}) {
            on.copy_a(s, first + s * chunk);
            on.copy_b(s, first + s * chunk);
            on.kernel(s, first + s * chunk);
        }
        for (std::size_t const s : {0, 1}) {
            on.copy_c(s, first + s * chunk);
        }
    }
}
//! [articles_order]

//! [own_streams]
/// All of one chunk, then all of the next, each in a stream and buffers of its own.
inline void own_streams(Pieces const& on)
{
    for (std::size_t s = 0; s * chunk < on.count(); ++s) {
        on.copy_a(s, s * chunk);
        on.copy_b(s, s * chunk);
        on.kernel(s, s * chunk);
        on.copy_c(s, s * chunk);
    }
}
//! [own_streams]

/// An order of issuing, in so many streams.
struct Order
{
    std::string name;
    std::string excerpt;
    std::size_t streams;
    void (*issue)(Pieces const&);
};

std::vector<Order> orders()
{
    return {{"sequential", "depth_first", 1, depth_first},
            {"depth_first", "depth_first", 2, depth_first},
            {"breadth_first", "breadth_first", 2, breadth_first},
            {"articles_order", "articles_order", 2, articles_order}};
}

/// An engine does one piece at a time, in the order in which pieces end: a piece whose stream was
/// ready began when the one before it ended.
std::vector<bench::Span> on_engines(std::vector<bench::Span> spans)
{
    std::ranges::sort(spans, {}, &bench::Span::end_s);
    std::map<std::string, double> free;
    for (auto& span : spans) {
        auto& end = free[span.lane];
        span.begin_s = std::max(span.begin_s, end);
        end = std::max(end, span.end_s);
        span.begin_s = std::min(span.begin_s, span.end_s);
    }
    return spans;
}

/// What the kernels make of a and b.
bench::Expectation::Block sums_of(bench::Input<Integer> const& a, bench::Input<Integer> const& b,
                                  int steps)
{
    std::uint32_t busy = 0;
    for (int step = 0; step < steps; ++step) {
        busy = 1664525U * busy + 1013904223U;
    }
    return [a, b, busy](std::size_t first, std::span<double> value, std::span<double> bound) {
        for (std::size_t k = 0; k < value.size(); ++k) {
            auto const base = (first + k) / chunk * chunk;
            auto const i = (first + k) % chunk;
            Integer sum = 0;
            for (auto const& x : {a.on().subspan(base), b.on().subspan(base)}) {
                sum += x[i] + x[(i + 1) % 256] + x[(i + 2) % 256];
            }
            value[k] = static_cast<Integer>(static_cast<std::uint32_t>(sum) + busy);
        }
        std::ranges::fill(bound, 0.0);
    };
}

/// Operands of a trial, and what checks them.
struct Operands
{
    std::shared_ptr<Arrays> arrays;
    bench::Input<Integer> a;
    bench::Input<Integer> b;
    bench::Output<Integer> c;
    int steps;

    Operands(Trial& trial, std::size_t chunks)
        : arrays{std::make_shared<Arrays>(chunks * chunk)},
          a{trial.input<Integer>(arrays->a.span())}, b{trial.input<Integer>(arrays->b.span())},
          c{trial.output<Integer>(arrays->c.span())}, steps{
                                                          static_cast<int>(trial.integer("steps"))}
    {
        c.expect(1, sums_of(a, b, steps));
        auto const bytes = static_cast<double>(chunks * chunk * sizeof(Integer));
        trial.work({.bytes = 3 * bytes});
    }
};

/// How many copies a device can do at once while it computes: what `deviceOverlap` used to tell.
int copy_engines()
{
    int device = 0;
    int engines = 0;
    cuda::check(cudaGetDevice(&device));
    cuda::check(cudaDeviceGetAttribute(&engines, cudaDevAttrAsyncEngineCount, device));
    return engines;
}

/// An order, timed by the clock of the host until all is done; or with a timeline, between events.
void add_order(Trial& trial, cuda::Gpu& gpu, Operands const& operands, Order const& order,
               bool with_timeline)
{
    trial
        .add(order.name,
             [&gpu, operands, order, with_timeline](Variant& variant) {
                 variant.clock(with_timeline ? gpu.events() : gpu.wall());
                 variant.count("copy_engines", copy_engines());
                 auto const buffers = std::make_shared<std::vector<Buffers>>(
                     std::max<std::size_t>(2, order.streams));
                 auto const log = with_timeline ? std::make_shared<cuda::Timeline>(gpu) : nullptr;
                 if (log) {
                     variant.timeline([log] { return on_engines(log->spans()); });
                 }
                 return [&gpu, operands, order, buffers, log] {
                     if (log) {
                         log->begin();
                     }
                     gpu.forked(order.streams, [&](std::span<cuda::Stream const> streams) {
                         order.issue(
                             {operands.arrays, streams, *buffers, operands.steps, log.get()});
                     });
                 };
             })
        .on(gpu, bench::host())
        .excerpt(order.excerpt);
}

/// Only the kernels, over what is on the device; and only the copies, which bring a back as it is.
void add_parts(Trial& trial, cuda::Gpu& gpu, Operands const& operands)
{
    //! [kernels_alone]
    trial.add("kernels_alone", [&gpu, operands](Variant& variant) {
        variant.clock(gpu.wall());
        auto const c = std::make_shared<cuda::Buffer<Integer>>(operands.c.size());
        variant.output<Integer>(c->span(), gpu)
            .expect(1, sums_of(operands.a, operands.b, operands.steps));
        return [&gpu, c, steps = operands.steps, a = operands.a.on(gpu), b = operands.b.on(gpu)] {
            for (std::size_t first = 0; first < a.size(); first += chunk) {
                transfer::neighbour_sums(a.data() + first, b.data() + first, c->data() + first,
                                         chunk, steps, gpu.stream().get());
            }
        };
    });
    //! [kernels_alone]
    //! [copies_alone]
    trial
        .add("copies_alone",
             [&gpu, operands](Variant& variant) {
                 variant.clock(gpu.wall());
                 auto const count = operands.c.size();
                 auto const device = std::make_shared<cuda::Buffer<Integer>>(2 * count);
                 auto const back = std::make_shared<cuda::Pinned<Integer>>(count);
                 auto const first_two = [a = operands.a](std::size_t first, std::span<double> value,
                                                         std::span<double> bound) {
                     std::ranges::copy(a.on().subspan(first, value.size()), value.begin());
                     std::ranges::fill(bound, 0.0);
                 };
                 variant.output<Integer>(back->span()).expect(1, first_two);
                 return [&gpu, device, back, arrays = operands.arrays, count] {
                     auto const stream = gpu.stream().get();
                     auto const bytes = count * sizeof(Integer);
                     cuda::check(cudaMemcpyAsync(device->data(), arrays->a.span().data(), bytes,
                                                 cudaMemcpyHostToDevice, stream));
                     cuda::check(cudaMemcpyAsync(device->data() + count, arrays->b.span().data(),
                                                 bytes, cudaMemcpyHostToDevice, stream));
                     cuda::check(cudaMemcpyAsync(back->span().data(), device->data(), bytes,
                                                 cudaMemcpyDeviceToHost, stream));
                 };
             })
        .on(gpu, bench::host());
    //! [copies_alone]
}

/// Steps by which the kernel is kept busy: from far less time than its copies take to more.
bench::AxisValues steps(std::vector<std::int64_t> const& tiny,
                        std::vector<std::int64_t> const& quick,
                        std::vector<std::int64_t> const& full)
{
    bench::AxisValues values;
    values.tiny.assign(tiny.begin(), tiny.end());
    values.quick.assign(quick.begin(), quick.end());
    values.full.assign(full.begin(), full.end());
    values.require = [](bench::Parameter const& value) {
        if (std::get<std::int64_t>(value) < 0) {
            throw std::invalid_argument{"--steps: expected at least 0"};
        }
    };
    return values;
}

} // namespace

void add_two_streams(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("two_streams").on(gpu);
    study.axis("steps", steps({0}, {0, 2000, 4000}, {0, 1000, 2000, 4000, 8000}));
    study.untyped([&gpu](Trial& trial) {
        Operands const operands{trial, 20};
        for (auto const& order : orders()) {
            add_order(trial, gpu, operands, order, false);
        }
        add_order(trial, gpu, operands, {"own_streams", "own_streams", 20, own_streams}, false);
        add_parts(trial, gpu, operands);
        add_engines(trial, gpu, operands.a, operands.b);
        trial.run();
    });
    auto& timelines = experiment.study("timelines").on(gpu);
    timelines.axis("steps", steps({0}, {2000}, {2000}));
    timelines.untyped([&gpu](Trial& trial) {
        Operands const operands{trial, 8};
        for (auto const& order : orders()) {
            add_order(trial, gpu, operands, order, true);
        }
        trial.run();
    });
}

} // namespace transfer_streams
