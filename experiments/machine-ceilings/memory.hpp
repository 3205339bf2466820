#pragma once

#include "bench/trial.hpp"
#include "ceilings/array.hpp"
#include "ceilings/latency.hpp"
#include "ceilings/memory.hpp"
#include "ceilings/reference.hpp"
#include "ceilings/stream_loops.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace machine_ceilings {

/// The references of `lib/ceilings` in the words of `lib/bench`.
inline bench::Expected expected(ceilings::Reference reference)
{
    return {std::move(reference.value), std::move(reference.bound)};
}

/// Three arrays of `count` elements, each part touched first by the thread that works on it; `b`
/// and `c` are inputs of the trial.
template <class T>
struct Arrays
{
    int threads;
    std::size_t count;
    ceilings::Array<T> a{count, threads};
    ceilings::Array<T> b{count, threads};
    ceilings::Array<T> c{count, threads};

    Arrays(bench::Trial<T>& trial, std::size_t elements) : threads{trial.threads()}, count{elements}
    {
        trial.input(b.span());
        trial.input(c.span());
    }

    double bytes(int arrays) const { return static_cast<double>(count * sizeof(T)) * arrays; }
};

/// Elements of an array that is read once after the caches were emptied: nothing of it can be in
/// them, whatever its size, so 128 MiB will do. What is written has to be far more than the caches
/// hold, as they may keep the end of it to themselves.
template <class T>
std::size_t enough_to_read(std::size_t count)
{
    constexpr std::size_t bytes = std::size_t{128} << 20;
    return std::min(count, bytes / sizeof(T));
}

/// The dot product of two arrays: nothing but reads.
template <class T>
void read(bench::Trial<T>& trial, std::size_t count)
{
    Arrays<T> on{trial, count};
    std::vector<T> sum(1);
    trial.work({.flops = 2.0 * static_cast<double>(count), .bytes = on.bytes(2)});
    trial.output(sum);
    trial.expect([&] { return expected(ceilings::dot_reference<T>(on.b, on.c)); });
    trial
        .add("babelstream_dot",
             [&] {
                 sum[0] = ceilings::babelstream_dot(on.b.data(), on.c.data(), count, on.threads);
             })
        .group("peer");
    trial.add("read_simd", [&] { sum[0] = ceilings::read_simd<T>(on.b, on.c, on.threads); });
    trial.add("read_four_streams",
              [&] { sum[0] = ceilings::read_four_streams<T>(on.b, on.c, on.threads); });
    trial.run();
}

/// "16_KiB", "4_MiB": a number of bytes that is a power of two.
inline std::string binary_size(std::size_t bytes)
{
    constexpr std::size_t mebi = 1 << 20;
    return bytes < mebi ? std::to_string(bytes >> 10) + "_KiB"
                        : std::to_string(bytes / mebi) + "_MiB";
}

/// Stores move bytes, whatever these mean: once is enough.
template <class T>
void require_fp64(bench::Trial<T>& trial)
{
    if (std::is_same_v<T, float>) {
        trial.not_applicable("the element type makes no difference: measured as fp64");
    }
}

/// One array into another.
template <class T>
void copy(bench::Trial<T>& trial, std::size_t count)
{
    require_fp64(trial);
    Arrays<T> on{trial, count};
    trial.work({.bytes = on.bytes(2)});
    trial.output(on.a.span());
    trial.expect([&] { return expected(ceilings::copy_reference<T>(on.b)); });
    trial
        .add("stream_copy",
             [&] { ceilings::stream_copy(on.b.data(), on.a.data(), count, on.threads); })
        .group("peer");
    trial.add("copy_simd", [&] { ceilings::copy_simd<T>(on.b, on.a, on.threads); });
    trial.add("copy_streaming_stores",
              [&] { ceilings::copy_streaming_stores<T>(on.b, on.a, on.threads); });
    trial.run();
}

/// Two arrays, one of them scaled, into a third.
template <class T>
void triad(bench::Trial<T>& trial, std::size_t count)
{
    require_fp64(trial);
    Arrays<T> on{trial, count};
    T const scalar = 3;
    trial.work({.flops = 2.0 * static_cast<double>(count), .bytes = on.bytes(3)});
    trial.output(on.a.span());
    trial.expect([&] { return expected(ceilings::triad_reference<T>(on.b, scalar, on.c)); });
    trial
        .add("stream_triad",
             [&] {
                 ceilings::stream_triad(on.a.data(), on.b.data(), scalar, on.c.data(), count,
                                        on.threads);
             })
        .group("peer");
    trial.add("triad_simd", [&] { ceilings::triad_simd<T>(on.a, on.b, scalar, on.c, on.threads); });
    trial.add("triad_streaming_stores",
              [&] { ceilings::triad_streaming_stores<T>(on.a, on.b, scalar, on.c, on.threads); });
    trial.run();
}

/// Loads that wait for each other, in working sets from a first-level cache to memory.
template <class T>
void latency(bench::Trial<T>& trial, std::size_t cache)
{
    require_fp64(trial);
    if (trial.threads() != 1) {
        trial.not_applicable("a chain of loads keeps one thread busy: measured with one");
    }
    constexpr std::uint64_t steps = 1 << 16;
    constexpr std::size_t smallest = 1 << 14;
    constexpr std::size_t largest = 1 << 30;
    std::vector<T> walked(1);
    trial.cache(bench::Cache::warm);
    trial.work({.operations = static_cast<double>(steps)});
    trial.output(walked);
    trial.expect([=] { return expected(ceilings::counted(1, static_cast<double>(steps))); });
    for (auto bytes = smallest; bytes <= largest && bytes < 16 * cache; bytes *= 4) {
        auto const chase = [&walked, bytes](bench::Setup&) {
            auto const cycle = std::make_shared<ceilings::PointerChase>(bytes);
            return [&walked, cycle] { walked[0] = static_cast<T>(cycle->follow(steps)); };
        };
        trial.add("chase_" + binary_size(bytes), chase).excerpt("pointer_chase");
    }
    trial.run();
}

} // namespace machine_ceilings
