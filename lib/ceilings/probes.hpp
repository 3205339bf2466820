#pragma once

#include "ceilings/array.hpp"
#include "ceilings/fma.hpp"
#include "ceilings/instruction_set.hpp"
#include "ceilings/memory.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace ceilings {

// What the machine can do, for `bench::Experiment::ceiling`: a probe has a `name`, the `bytes` and
// `flops` of one pass (of the two, only what it is the ceiling of; the other is 0) and `pass()`.
// `threads` is the number of OpenMP threads, `cache_bytes` is `machine::last_level_cache_bytes()`.

/// Elements of each of the `arrays` arrays that a probe goes through again and again.
///
/// Each has four times `cache_bytes`, as STREAM asks, up to 512 MiB. Caches of more than 128 MiB
/// would make that gigabytes, most of which is time for touching them: there all arrays together
/// have at least four times the cache. A pass comes back to an element only after all others. A
/// cache that replaces the oldest has lost it by then; one that keeps whatever it likes has at most
/// a quarter.
template <class T>
constexpr std::size_t beyond_cache(std::size_t cache_bytes, std::size_t arrays)
{
    constexpr std::size_t enough = std::size_t{512} << 20;
    auto const of_stream = 4 * cache_bytes;
    return std::max(std::min(of_stream, enough), of_stream / arrays) / sizeof(T);
}

/// Bandwidth of reading: the dot product `read_four_streams`.
class Read
{
    int threads_;
    Array<double> a_;
    Array<double> b_;
    double sum_ = 0;

public:
    std::string name = "read";
    double bytes;
    double flops = 0;

    Read(int threads, std::size_t cache_bytes)
        : threads_{threads}, a_{beyond_cache<double>(cache_bytes, 2), threads},
          b_{a_.span().size(), threads}, bytes{2.0 * static_cast<double>(a_.span().size_bytes())}
    {
    }

    void pass() { sum_ = read_four_streams<double>(a_, b_, threads_); }
};

/// Whether `first` takes less time than `second`: the shortest of three runs of each.
bool is_faster(std::function<void()> const& first, std::function<void()> const& second);

/// Bandwidth of copying, one byte read for each byte written: with stores past the caches or
/// through them, whichever is faster with these threads.
class Copy
{
    int threads_;
    Array<double> a_;
    Array<double> c_;
    bool streaming_ = false;

    void past_caches() { copy_streaming_stores<double>(a_, c_, threads_); }
    void through_caches() { copy_simd<double>(a_, c_, threads_); }

public:
    std::string name = "copy";
    double bytes;
    double flops = 0;

    Copy(int threads, std::size_t cache_bytes)
        : threads_{threads}, a_{beyond_cache<double>(cache_bytes, 2), threads},
          c_{a_.span().size(), threads}, bytes{2.0 * static_cast<double>(a_.span().size_bytes())}
    {
        streaming_ = is_faster([this] { past_caches(); }, [this] { through_caches(); });
    }

    void pass() { streaming_ ? past_caches() : through_caches(); }
};

/// Bandwidth of the triad, two bytes read for each byte written: with stores past the caches or
/// through them, whichever is faster with these threads.
class Triad
{
    int threads_;
    Array<double> a_;
    Array<double> b_;
    Array<double> c_;
    bool streaming_ = false;

    void past_caches() { triad_streaming_stores<double>(a_, b_, 3.0, c_, threads_); }
    void through_caches() { triad_simd<double>(a_, b_, 3.0, c_, threads_); }

public:
    std::string name = "triad";
    double bytes;
    double flops = 0;

    Triad(int threads, std::size_t cache_bytes)
        : threads_{threads}, a_{beyond_cache<double>(cache_bytes, 3), threads}, b_{a_.span().size(),
                                                                                   threads},
          c_{a_.span().size(), threads}, bytes{3.0 * static_cast<double>(a_.span().size_bytes())}
    {
        streaming_ = is_faster([this] { past_caches(); }, [this] { through_caches(); });
    }

    void pass() { streaming_ ? past_caches() : through_caches(); }
};

/// Rate of fused multiply-adds in registers: `fma_chains` on the widest vectors, "fma_fp32" or
/// "fma_fp64".
template <class T>
class Fma
{
    int threads_;
    std::vector<T> start_;
    std::vector<T> sum_;

public:
    std::string name = std::is_same_v<T, float> ? "fma_fp32" : "fma_fp64";
    double bytes = 0;
    double flops;

    explicit Fma(int threads)
        : threads_{threads}, start_(fma_elements<T>),
          sum_(fma_elements<T> * static_cast<std::size_t>(threads)), flops{fma_flops<T>(threads)}
    {
    }

    void pass() { run_fma<T>(widest<T>().fma_chains, start_, T{1}, T{1}, sum_, threads_); }
};

} // namespace ceilings
