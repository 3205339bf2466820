#include "studies.hpp"

#include "ceilings/array.hpp"
#include "ceilings/memory.hpp"
#include "ceilings/reference.hpp"
#include "ceilings/stream_loops.hpp"

#include <algorithm>
#include <cstddef>

namespace machine_ceilings {

namespace {

/// Three arrays, each part touched first by the thread that works on it; `b` and `c` are inputs of
/// the trial.
template <class T>
struct Arrays
{
    int threads;
    std::size_t count;
    ceilings::Array<T> a{count, threads};
    ceilings::Array<T> b{count, threads};
    ceilings::Array<T> c{count, threads};

    Arrays(bench::Trial& trial, std::size_t elements) : threads{trial.threads()}, count{elements}
    {
        trial.input(b.span());
        trial.input(c.span());
    }

    double bytes(int arrays) const { return static_cast<double>(count * sizeof(T)) * arrays; }
};

/// Elements of each of two arrays that have four caches together; in a test of the program, where
/// that can be gigabytes, few.
template <class T>
std::size_t beyond_caches(bench::Trial const& trial)
{
    return trial.is_test() ? 1'000'003 : 2 * bench::host().cache_bytes() / sizeof(T);
}

/// Elements of an array that is read once after the caches were emptied: nothing of it can be in
/// them, whatever its size, so 128 MiB will do. What is written has to be far more than the caches
/// hold, as they may keep the end of it to themselves.
template <class T>
std::size_t enough_to_read(bench::Trial const& trial)
{
    constexpr std::size_t bytes = std::size_t{128} << 20;
    return std::min(beyond_caches<T>(trial), bytes / sizeof(T));
}

} // namespace

template <class T>
void read(bench::Trial& trial)
{
    trial.cache(bench::Cache::cold); // also where they would fit into a large one
    Arrays<T> on{trial, enough_to_read<T>(trial)};
    auto const output = trial.output<T>(1);
    auto const sum = output.on();
    trial.work({.flops = 2.0 * static_cast<double>(on.count), .bytes = on.bytes(2)});
    output.expect([&] { return ceilings::dot_reference<T>(on.b, on.c); });
    trial
        .add("babelstream_dot",
             [&] {
                 sum[0] = ceilings::babelstream_dot(on.b.data(), on.c.data(), on.count, on.threads);
             })
        .group("peer");
    trial.add("read_simd", [&] { sum[0] = ceilings::read_simd<T>(on.b, on.c, on.threads); });
    trial.add("read_four_streams",
              [&] { sum[0] = ceilings::read_four_streams<T>(on.b, on.c, on.threads); });
    trial.run();
}
template void read<float>(bench::Trial&);
template void read<double>(bench::Trial&);

void copy(bench::Trial& trial)
{
    Arrays<double> on{trial, beyond_caches<double>(trial)};
    trial.work({.bytes = on.bytes(2)});
    trial.output(on.a.span()).expect([&] { return ceilings::copy_reference<double>(on.b); });
    trial
        .add("stream_copy",
             [&] { ceilings::stream_copy(on.b.data(), on.a.data(), on.count, on.threads); })
        .group("peer");
    trial.add("copy_simd", [&] { ceilings::copy_simd<double>(on.b, on.a, on.threads); });
    trial.add("copy_streaming_stores",
              [&] { ceilings::copy_streaming_stores<double>(on.b, on.a, on.threads); });
    trial.run();
}

void triad(bench::Trial& trial)
{
    Arrays<double> on{trial, beyond_caches<double>(trial)};
    constexpr double scalar = 3;
    trial.work({.flops = 2.0 * static_cast<double>(on.count), .bytes = on.bytes(3)});
    trial.output(on.a.span()).expect([&] {
        return ceilings::triad_reference<double>(on.b, scalar, on.c);
    });
    trial
        .add("stream_triad",
             [&] {
                 ceilings::stream_triad(on.a.data(), on.b.data(), scalar, on.c.data(), on.count,
                                        on.threads);
             })
        .group("peer");
    trial.add("triad_simd",
              [&] { ceilings::triad_simd<double>(on.a, on.b, scalar, on.c, on.threads); });
    trial.add("triad_streaming_stores", [&] {
        ceilings::triad_streaming_stores<double>(on.a, on.b, scalar, on.c, on.threads);
    });
    trial.run();
}

} // namespace machine_ceilings
