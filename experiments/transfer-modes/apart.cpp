#include "copies.hpp"
#include "studies.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <system_error>

namespace transfer_modes {

namespace {

using Make = HostArray (*)(std::size_t);

constexpr std::size_t page = 4096 / sizeof(float);

/// Elements of 4 MiB, which a cache holds: a driver copies pageable memory through such buffers.
constexpr std::size_t most_in_buffer = std::size_t{1} << 20;

/// A buffer in locked pages, of which an array of `count` elements makes whole pieces.
HostArray buffer_for(std::size_t count)
{
    return malloc_host(std::gcd(count, most_in_buffer));
}

//! [into_buffer]
/// Copies an array into one buffer of locked pages, piece after piece, by one thread.
inline void into_buffer(std::span<float const> x, std::span<float> buffer)
{
    for (std::size_t first = 0; first < x.size(); first += buffer.size()) {
        std::memcpy(buffer.data(), &x[first], buffer.size_bytes());
    }
}
//! [into_buffer]

//! [out_of_buffer]
/// Copies one buffer of locked pages to an array, piece after piece, by one thread.
inline void out_of_buffer(std::span<float const> buffer, std::span<float> y)
{
    for (std::size_t first = 0; first < y.size(); first += buffer.size()) {
        std::memcpy(&y[first], buffer.data(), buffer.size_bytes());
    }
}
//! [out_of_buffer]

//! [new_pages]
/// Gives whole pages back to the system: who writes to them next gets new ones.
inline void give_back(std::span<float> pages)
{
    if (madvise(pages.data(), pages.size_bytes(), MADV_DONTNEED) != 0) {
        throw std::system_error{errno, std::generic_category(), "madvise"};
    }
}
//! [new_pages]

//! [page_faults]
/// Writes to each page of an array that has none yet.
inline void take_new_pages(std::span<float const> x, std::span<float> y)
{
    give_back(y);
    for (std::size_t i = 0; i < y.size(); i += page) {
        y[i] = x[i];
    }
}
//! [page_faults]

/// A copy to the device as it is, and what it consists of.
void to_device(Problem const& p)
{
    auto const y = p.trial.output<float>(p.count);
    p.expect(y);
    auto const add = [&](std::string const& name, std::string const& excerpt, Make make) {
        p.trial
            .add(name,
                 [p, y, make](Variant& variant) {
                     variant.clock(p.gpu.wall());
                     auto const array = p.filled(variant, make(p.count));
                     Ends const ends{y.on(p.gpu).data(), array.span.data(), p.count};
                     return [array, ends, way = copy_engine(), &gpu = p.gpu] {
                         way.to_device(ends, gpu.stream());
                         gpu.finish();
                     };
                 })
            .excerpt(excerpt);
    };
    add("whole", "pageable", pageable);
    add("bus", "malloc_host", malloc_host);
    auto const host_copy = [p](Variant& variant) {
        auto const x = p.filled(variant, pageable(p.count));
        auto const buffer = buffer_for(p.count);
        auto const last = [x = p.x, size = buffer.span.size()](
                              std::size_t first, std::span<double> value, std::span<double> bound) {
            auto const pieces = x.size() / size;
            std::ranges::copy(x.on().subspan((pieces - 1) * size + first, value.size()),
                              value.begin());
            std::ranges::fill(bound, 0.0);
        };
        variant.output<float>(buffer.span).expect(1, last);
        return [x, buffer] { into_buffer(x.span, buffer.span); };
    };
    p.trial.add("host_copy", host_copy).on(bench::host()).excerpt("into_buffer");
}

/// A copy to the host as it is, also to pages that are new, and what it consists of.
void to_host(Problem const& p)
{
    p.trial.cache(bench::Cache::cold); // on the host too, as the whole is, or parts do not add up
    auto const add = [&](std::string const& name, std::string const& excerpt, Make make,
                         bool to_new_pages) {
        p.trial
            .add(name,
                 [p, make, to_new_pages](Variant& variant) {
                     variant.clock(p.gpu.wall());
                     auto const array = make(p.count);
                     p.expect(variant.output<float>(array.span));
                     auto* const device = const_cast<float*>(p.x.on(p.gpu).data()); // only read
                     Ends const ends{device, array.span.data(), p.count};
                     return [array, ends, to_new_pages, way = copy_engine(), &gpu = p.gpu] {
                         if (to_new_pages) {
                             give_back(array.span);
                         }
                         way.to_host(ends, gpu.stream());
                         gpu.finish();
                     };
                 })
            .on(p.gpu, bench::host())
            .excerpt(excerpt);
    };
    add("whole", "pageable", pageable, false);
    add("whole_to_new_pages", "new_pages", pageable, true);
    add("bus", "malloc_host", malloc_host, false);
    auto const host_copy = [p](Variant& variant) {
        auto const buffer = p.filled(variant, buffer_for(p.count));
        auto const y = pageable(p.count);
        auto const same = [x = p.x, size = buffer.span.size()](
                              std::size_t first, std::span<double> value, std::span<double> bound) {
            for (std::size_t k = 0; k < value.size(); ++k) {
                value[k] = x.on()[(first + k) % size];
            }
            std::ranges::fill(bound, 0.0);
        };
        variant.output<float>(y.span).expect(1, same);
        return [buffer, y] { out_of_buffer(buffer.span, y.span); };
    };
    p.trial.add("host_copy", host_copy).on(bench::host()).excerpt("out_of_buffer");
    auto const page_faults = [p](Variant& variant) {
        auto const x = p.filled(variant, pageable(p.count));
        auto const y = pageable(p.count);
        auto const one_a_page = [x = p.x](std::size_t first, std::span<double> value,
                                          std::span<double> bound) {
            for (std::size_t k = 0; k < value.size(); ++k) {
                value[k] = (first + k) % page == 0 ? x.on()[first + k] : 0;
            }
            std::ranges::fill(bound, 0.0);
        };
        variant.output<float>(y.span).expect(1, one_a_page);
        return [x, y] { take_new_pages(x.span, y.span); };
    };
    p.trial.add("page_faults", page_faults).on(bench::host());
}

} // namespace

void add_apart(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("apart").on(gpu);
    study.axis("direction", {"to_device", "to_host"}).axis("mebibytes", mebibytes(1, 64, 64));
    study.untyped([&gpu](Trial& trial) {
        auto const bytes = static_cast<std::size_t>(trial.integer("mebibytes")) << 20;
        Problem const p{trial, gpu, bytes};
        trial.work({.bytes = static_cast<double>(bytes)});
        trial.text("direction") == "to_device" ? to_device(p) : to_host(p);
        trial.run();
    });
}

} // namespace transfer_modes
