#include "ceilings/probes.hpp"

#include "bench/do_not_optimize.hpp"
#include "ceilings/array.hpp"
#include "ceilings/fma.hpp"
#include "ceilings/instruction_set.hpp"
#include "ceilings/memory.hpp"

#include <array>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

namespace ceilings {

namespace {

using Arrays = std::vector<Array<double>>;

std::shared_ptr<Arrays> arrays(std::size_t count, std::size_t cache_bytes, int threads)
{
    auto const held = std::make_shared<Arrays>();
    for (std::size_t i = 0; i < count; ++i) {
        held->emplace_back(beyond_cache<double>(cache_bytes, count), threads);
    }
    return held;
}

bench::Work bytes_of(Arrays const& arrays)
{
    return {.bytes = static_cast<double>(arrays.size() * arrays[0].span().size_bytes())};
}

/// Seconds of the shortest of three runs.
double shortest(std::function<void()> const& run)
{
    auto least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; ++i) {
        auto const start = std::chrono::steady_clock::now();
        run();
        std::chrono::duration<double> const spent = std::chrono::steady_clock::now() - start;
        least = std::min(least, spent.count());
    }
    return least;
}

std::function<void()> faster(std::function<void()> const& first,
                             std::function<void()> const& second)
{
    return shortest(first) < shortest(second) ? first : second;
}

} // namespace

bench::Ceiling read(int threads)
{
    return read_beyond(bench::host().cache_bytes(), threads);
}
bench::Ceiling read_beyond(std::size_t cache_bytes, int threads)
{
    auto const held = arrays(2, cache_bytes, threads);
    return {"read", bytes_of(*held), [held, threads] {
                bench::do_not_optimize(read_four_streams<double>((*held)[0], (*held)[1], threads));
            }};
}

bench::Ceiling copy(int threads)
{
    return copy_beyond(bench::host().cache_bytes(), threads);
}
bench::Ceiling copy_beyond(std::size_t cache_bytes, int threads)
{
    auto const held = arrays(2, cache_bytes, threads);
    auto const past = [held, threads] {
        copy_streaming_stores<double>((*held)[0], (*held)[1], threads);
    };
    auto const through = [held, threads] { copy_simd<double>((*held)[0], (*held)[1], threads); };
    return {"copy", bytes_of(*held), faster(past, through)};
}

bench::Ceiling triad(int threads)
{
    return triad_beyond(bench::host().cache_bytes(), threads);
}
bench::Ceiling triad_beyond(std::size_t cache_bytes, int threads)
{
    auto const held = arrays(3, cache_bytes, threads);
    auto const past = [held, threads] {
        triad_streaming_stores<double>((*held)[0], (*held)[1], 3.0, (*held)[2], threads);
    };
    auto const through = [held, threads] {
        triad_simd<double>((*held)[0], (*held)[1], 3.0, (*held)[2], threads);
    };
    return {"triad", bytes_of(*held), faster(past, through)};
}

template <class T>
bench::Ceiling fma(int threads)
{
    auto const start = std::make_shared<std::vector<T>>(fma_elements<T>);
    auto const sums =
        std::make_shared<std::vector<T>>(start->size() * static_cast<std::size_t>(threads));
    return {sizeof(T) == sizeof(float) ? "fma_fp32" : "fma_fp64",
            {.flops = fma_flops<T>(threads)},
            [=] { run_fma<T>(widest<T>().fma_chains, *start, T{1}, T{1}, *sums, threads); }};
}

template bench::Ceiling fma<float>(int threads);
template bench::Ceiling fma<double>(int threads);

} // namespace ceilings
