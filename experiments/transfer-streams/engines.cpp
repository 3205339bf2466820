#include "engines.hpp"

#include "cuda/buffer.hpp"
#include "cuda/error.hpp"
#include "cuda/pinned.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>

namespace transfer_streams {

namespace {

using Input = bench::Input<std::int32_t>;

/// Where arrays of so many elements are copied to.
struct Targets
{
    cuda::Buffer<std::int32_t> a;
    cuda::Buffer<std::int32_t> b;
    cuda::Pinned<std::int32_t> back;

    explicit Targets(std::size_t count) : a{count}, b{count}, back{count} {}
};

/// The same values.
bench::Expectation::Block same(Input const& x)
{
    return [x](std::size_t first, std::span<double> value, std::span<double> bound) {
        std::ranges::copy(x.on().subspan(first, value.size()), value.begin());
        std::ranges::fill(bound, 0.0);
    };
}

//! [engines_alone]
inline void copy(std::span<std::int32_t const> from, std::int32_t* to, cudaMemcpyKind direction,
                 cuda::Stream const& stream)
{
    cuda::check(cudaMemcpyAsync(to, from.data(), from.size_bytes(), direction, stream.get()));
}
//! [engines_alone]

} // namespace

void add_engines(bench::Trial& trial, cuda::Gpu& gpu, Input const& a, Input const& b)
{
    auto const add = [&](std::string const& name, bool there, bool back) {
        trial
            .add(name,
                 [&gpu, a, b, there, back](bench::Variant& variant) {
                     variant.clock(gpu.wall());
                     auto const to = std::make_shared<Targets>(a.on().size());
                     if (there) {
                         variant.output<std::int32_t>(to->a.span(), gpu).expect(1, same(a));
                         variant.output<std::int32_t>(to->b.span(), gpu).expect(1, same(b));
                     }
                     if (back) {
                         variant.output<std::int32_t>(to->back.span()).expect(1, same(a));
                     }
                     return [&gpu, to, there, back, a = a.on(), b = b.on(), on_device = a.on(gpu)] {
                         gpu.forked(2, [&](std::span<cuda::Stream const> streams) {
                             if (there) {
                                 copy(a, to->a.data(), cudaMemcpyHostToDevice, streams[0]);
                                 copy(b, to->b.data(), cudaMemcpyHostToDevice, streams[0]);
                             }
                             if (back) {
                                 copy(on_device, to->back.span().data(), cudaMemcpyDeviceToHost,
                                      streams[1]);
                             }
                         });
                     };
                 })
            .excerpt("engines_alone");
    };
    add("to_device_alone", true, false);
    add("to_host_alone", false, true);
    add("both_ways_alone", true, true);
}

} // namespace transfer_streams
