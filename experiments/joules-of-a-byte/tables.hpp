#pragma once

#include "kernels.hpp"

#include "bench/trial.hpp"
#include "cuda/buffer.hpp"
#include "cuda/gpu.hpp"

#include <memory>

namespace joules {

/// Bytes of a table that no cache of a GPU holds, and of one that the last-level cache holds.
inline std::size_t beyond_caches(bench::Trial const& trial)
{
    return std::size_t{1} << (trial.is_test() ? 26 : 30);
}
inline constexpr std::size_t within_l2 = std::size_t{16} << 20;
inline constexpr std::size_t within_l1 = period * sizeof(std::uint32_t);

/// A table that follows from a seed, an input of one element, whenever that changes.
class Table
{
public:
    Table(bench::Input<std::int32_t> seed, Bits bits, std::size_t bytes, cuda::Gpu& gpu)
        : seed_{seed}, bits_{bits}, words_{bytes / sizeof(std::uint32_t)}, gpu_{&gpu}
    {
        fill();
    }

    void fill() { fill_table(bits_, seed_.on(*gpu_), words_.span(), gpu_->stream()); }

    /// Its first bytes.
    std::span<std::uint32_t const> first(std::size_t bytes) const
    {
        return words_.span().first(bytes / sizeof(std::uint32_t));
    }

private:
    bench::Input<std::int32_t> seed_;
    Bits bits_;
    cuda::Buffer<std::uint32_t> words_;
    cuda::Gpu* gpu_;
};

/// Sets up a read of so many steps; each block leaves a sum.
inline auto reads(Level from, std::span<std::uint32_t const> table, Bits bits,
                  bench::Input<std::int32_t> seed, std::uint32_t steps, cuda::Gpu& gpu)
{
    return [=, &gpu](bench::Variant& variant) {
        auto const sums = variant.output<std::int32_t>(blocks());
        sums.expect([=] {
            auto const sum = static_cast<std::int32_t>(words_sum(bits, seed.on()[0], steps));
            return bench::Expected{std::vector<double>(blocks(), sum),
                                   std::vector<double>(blocks(), 0.0)};
        });
        return [=, &gpu, out = sums.on(gpu)] { read_words(from, table, steps, out, gpu.stream()); };
    };
}

} // namespace joules
